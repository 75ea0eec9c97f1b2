import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { npm, root } from './npm.ts'

// What is packed is enough to run: nothing of the sources or of the development packages is needed. TEST_INSTALLATIONS names folders
// in which it was installed for other Nodes (`.ci/nodes`), separated by colons: each has `bin/node` and `node_modules/svc`.

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  version: string
  dependencies: Record<string, string>
  optionalDependencies: Record<string, string>
}
const dir = mkdtempSync(join(tmpdir(), 'svc-install-'))
const modules = join(dir, 'node_modules')

beforeAll(async () => {
  await npm(root, 'pack', '--pack-destination', dir)
  writeFileSync(join(dir, 'package.json'), '{ "private": true }')
  // npm finds the dependencies in place and asks nobody for them; SQLite, which takes minutes to compile, is lent afterwards.
  for (const name of Object.keys(manifest.dependencies)) {
    cpSync(join(root, 'node_modules', name), join(modules, name), { recursive: true })
  }
  await npm(dir, 'install', '--omit=optional', '--cache', join(dir, 'cache'), `./svc-${manifest.version}.tgz`)
  for (const name of Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })) lend(name)
})

afterAll(() => rmSync(dir, { recursive: true, force: true }))

/** Puts a link to a package of this checkout into the installation; an optional one may be missing here too. */
function lend(name: string): void {
  const from = join(root, 'node_modules', name)
  if (!existsSync(from)) return
  rmSync(join(modules, name), { recursive: true, force: true })
  mkdirSync(dirname(join(modules, name)), { recursive: true })
  symlinkSync(from, join(modules, name))
}

/** What starts the command: as npm linked it, or another Node with its own installation. */
type Command = readonly [string, ...string[]]

const linked: Command = [join(modules, '.bin', 'svc')]
const onOtherNodes = (process.env['TEST_INSTALLATIONS'] ?? '')
  .split(':')
  .filter((folder) => folder !== '')
  .map((folder): Command => [join(folder, 'bin/node'), join(folder, 'node_modules/svc/bin/svc.js')])

/** Starts a command in a home of its own. */
function start([program, ...words]: Command, args: readonly string[], home: string, input = '') {
  const env = { PATH: process.env['PATH'], HOME: home, NO_COLOR: '1' }
  const child = spawn(program, [...words, ...args], { cwd: home, env, timeout: 120_000 })
  const said = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk: Buffer) => (said.stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (said.stderr += chunk.toString()))
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, ...said }))
  return { child, ended }
}

const svc = (...args: string[]) => start(linked, args, dir)

/** Starts a server and resolves with its address once it is ready. */
async function serve(command: Command, home: string, data: string) {
  const { child, ended } = start(command, ['serve', '--data-dir', data, '--port', '0'], home)
  onTestFinished(() => void child.kill('SIGKILL'))
  const [line] = await Promise.race([
    once(createInterface(child.stdout), 'line') as Promise<[string]>,
    ended.then(({ stderr }) => [`ended early: ${stderr}`] as const),
  ])
  expect(line).toMatch(/^svc is ready at http:/)
  async function stop(): Promise<void> {
    child.kill('SIGTERM')
    expect((await ended).code).toBe(0)
  }
  return { url: line.replace('svc is ready at ', ''), stop }
}

test('the installed command says its version', async () => {
  expect(await svc('--version').ended).toEqual({
    code: 0,
    stdout: expect.stringContaining(manifest.version),
    stderr: '',
  })
})

test('the installed command says how to use it', async () => {
  expect(await svc('--help').ended).toEqual({ code: 0, stdout: expect.stringContaining('svc serve'), stderr: '' })
})

test('the installed command has its templates with it', async () => {
  const { code, stdout, stderr } = await svc('template', 'list', '--json').ended
  expect([code, stderr]).toEqual([0, ''])
  const names = (JSON.parse(stdout) as { name: string }[]).map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(['systemd', 'nginx', 'sample-app']))
  for (const name of names) {
    const shown = await svc('template', 'show', name).ended
    expect([name, shown.code, shown.stdout.length > 100]).toEqual([name, 0, true])
  }
})

test('the installed command serves, and ends when told to', async () => {
  const readyFile = join(dir, 'ready.json')
  const { child, ended } = svc('serve', '--ephemeral', '--port', '0', '--ready-file', readyFile)
  onTestFinished(() => void child.kill('SIGKILL'))
  const [first] = await Promise.race([
    once(createInterface(child.stdout), 'line') as Promise<[string]>,
    ended.then(({ stderr }) => [`ended early: ${stderr}`] as const),
  ])
  expect(first).toMatch(/^svc is ready at http:\/\/127\.0\.0\.1:\d+$/)
  const ready = JSON.parse(readFileSync(readyFile, 'utf8')) as { url: string }
  expect(ready).toEqual({ url: first.replace('svc is ready at ', ''), pid: child.pid, version: manifest.version })
  expect((await fetch(ready.url)).status).toBeLessThan(500)
  child.kill('SIGTERM')
  expect((await ended).code).toBe(0)
})

test.each([linked, ...onOtherNodes])(
  '%s serves, signs in, synchronises, shows the desktop, backs up and restores',
  async (...command: [string, ...string[]]) => {
    const home = mkdtempSync(join(tmpdir(), 'svc-home-'))
    onTestFinished(() => rmSync(home, { recursive: true, force: true }))
    const [data, restored, folder, backups] = ['data', 'restored', 'folder', 'backups'].map((name) =>
      join(home, name),
    ) as [string, string, string, string]
    const password = 'analytical engine'
    async function run(args: string[], input?: string): Promise<string> {
      const { code, stdout, stderr } = await start(command, args, home, input).ended
      expect([args[0], code, stderr]).toEqual([args[0], 0, expect.anything()])
      return stdout
    }
    await run(['init', '--data-dir', data, '--admin', 'ada', '--password-stdin'], password)
    const server = await serve(command, home, data)
    await run(['login', server.url, '--username', 'ada', '--password-stdin'], `${password}\n`)
    mkdirSync(folder)
    writeFileSync(join(folder, 'note.txt'), 'The engine weaves patterns.')
    await run(['sync', 'init', folder])
    await run(['sync', folder])
    expect(await run(['files', 'cat', '/note.txt'])).toBe('The engine weaves patterns.')
    const page = await (await fetch(server.url)).text()
    const scripts = [...page.matchAll(/<script[^>]* src="([^"]+)"/g)].map(([, path]) => path!)
    expect(scripts).not.toEqual([])
    for (const path of scripts) expect([path, (await fetch(new URL(path, server.url))).status]).toEqual([path, 200])
    await run(['backup', 'create', '--data-dir', data, '--to', backups])
    await server.stop()
    await run(['backup', 'restore', 'latest', '--from', backups, '--data-dir', restored])
    const second = await serve(command, home, restored)
    const asRestored = ['--profile', 'restored']
    await run(['login', second.url, '--username', 'ada', '--password-stdin', ...asRestored], `${password}\n`)
    expect(await run(['files', 'cat', '/note.txt', ...asRestored])).toBe('The engine weaves patterns.')
    await second.stop()
  },
  120_000,
)
