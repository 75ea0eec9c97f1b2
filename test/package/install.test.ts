import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { npm, root } from './npm.ts'

// What is packed is enough to run: nothing of the sources or of the development packages is needed.

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

/** Starts the installed command as npm linked it, in a home of its own. */
function svc(...args: string[]) {
  const env = { PATH: process.env['PATH'], HOME: dir, NO_COLOR: '1' }
  const child = spawn(join(modules, '.bin', 'svc'), args, { cwd: dir, env, timeout: 25_000 })
  const said = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk: Buffer) => (said.stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (said.stderr += chunk.toString()))
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, ...said }))
  return { child, ended }
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
}, 60_000)

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
