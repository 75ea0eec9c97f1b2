import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { temporaryFolder } from '../support/folder.ts'

// `svc sync --watch` as it is built, with a real server that comes and goes and real folders.

const program = fileURLToPath(new URL('../../bin/svc.js', import.meta.url))
const PASSWORD = 'analytical engine'
/** How long anything may take before it counts as not happening, ms. */
const PATIENCE = 60_000

type Event = Record<string, unknown>

interface Running {
  child: ChildProcess
  printed: { stdout: string; stderr: string }
  ended: Promise<number | null>
}

let place: string
let running: Running[]

beforeEach(async () => {
  place = realpathSync(await temporaryFolder())
  mkdirSync(join(place, 'home'))
  running = []
})

afterEach(async () => {
  for (const { child } of running) child.kill('SIGKILL')
  await Promise.all(running.map(({ ended }) => ended))
  rmSync(place, { recursive: true, force: true })
})

function start(args: string[], stdin = ''): Running {
  const env = {
    PATH: process.env['PATH'],
    HOME: join(place, 'home'),
    SVC_DATA_DIR: join(place, 'data'),
    SVC_LIMITS: 'off',
  }
  const child = spawn(process.execPath, [program, ...args], { cwd: place, env })
  child.stdin.on('error', () => undefined).end(stdin)
  const printed = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed.stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (printed.stderr += text))
  const ended = new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve))
  const one = { child, printed, ended }
  running.push(one)
  return one
}

async function svc(args: string[], stdin = ''): Promise<string> {
  const { ended, printed } = start(args, stdin)
  const code = await ended
  if (code !== 0) throw new Error(`svc ${args.join(' ')} ended with ${code}: ${printed.stderr}`)
  return printed.stdout
}

/** Waits until something is so, looking whenever the process prints and now and then. */
async function until(what: string, isSo: () => boolean, { printed }: Running): Promise<void> {
  const began = performance.now()
  while (!isSo()) {
    if (performance.now() - began > PATIENCE) throw new Error(`not within time: ${what}\n${JSON.stringify(printed)}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

const events = ({ printed }: Running): Event[] =>
  printed.stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Event)

const saw = (watch: Running, event: Event) => (): boolean =>
  events(watch).some((each) => Object.entries(event).every(([key, value]) => each[key] === value))

async function serve(port = 0): Promise<Running & { port: number }> {
  const ready = join(place, 'ready')
  rmSync(ready, { force: true })
  const server = start(['serve', '--port', String(port), '--ready-file', ready, '--log-level', 'silent'])
  await until('the server is ready', () => existsSync(ready) && server.child.exitCode === null, server)
  const { url } = JSON.parse(readFileSync(ready, 'utf8')) as { url: string }
  return { ...server, port: Number(new URL(url).port) }
}

async function end(one: Running, signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
  one.child.kill(signal)
  return one.ended
}

const text = (...names: string[]): string | undefined => {
  const file = join(place, ...names)
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined
}

async function signedIn(...folders: string[]) {
  await svc(['user', 'add', 'ada', '--role', 'admin', '--password-stdin'], PASSWORD)
  const server = await serve()
  const url = `http://127.0.0.1:${server.port}`
  await svc(['login', url, '--username', 'ada', '--password-stdin', '--device-name', 'Laptop'], PASSWORD)
  for (const folder of folders) await svc(['sync', 'init', folder])
  return server
}

test('changes on either side are acted on in both folders; it ends when told to', { timeout: 180_000 }, async () => {
  await signedIn('one', 'two')
  const watch = start(['sync', '--watch', '--json'])
  await until('both are watched', () => events(watch).filter(({ event }) => event === 'watching').length === 2, watch)

  writeFileSync(join(place, 'one', 'a.txt'), 'made here')
  await until('a new file arrives', () => text('two', 'a.txt') === 'made here', watch)
  mkdirSync(join(place, 'two', 'new', 'folder'), { recursive: true })
  writeFileSync(join(place, 'two', 'new', 'folder', 'b.txt'), 'deep')
  await until('a file in a new folder arrives', () => text('one', 'new', 'folder', 'b.txt') === 'deep', watch)
  writeFileSync(join(place, 'one', 'new', 'folder', 'b.txt'), 'edited')
  await until('an edit deep down arrives', () => text('two', 'new', 'folder', 'b.txt') === 'edited', watch)
  rmSync(join(place, 'two', 'a.txt'))
  await until('a deletion arrives', () => text('one', 'a.txt') === undefined, watch)
  expect(events(watch)).not.toContainEqual(expect.objectContaining({ event: 'paused' }))
  expect(watch.printed.stderr).toBe('')

  expect(JSON.parse(await svc(['sync', 'status', 'one', '--json']))).toMatchObject({ watched: true, pending: [] })
  const second = start(['sync', 'one', '--watch'])
  expect(await second.ended).toBe(6)
  expect(await end(watch)).toBe(0)
  expect(JSON.parse(await svc(['sync', 'status', 'one', '--json']))).toMatchObject({ watched: false, running: false })
})

test(
  'a server that goes away is waited for, each reason is said once; Ctrl-C ends with 130',
  { timeout: 180_000 },
  async () => {
    const server = await signedIn('one')
    const watch = start(['sync', 'one', '--watch', '--json'])
    writeFileSync(join(place, 'one', 'a.txt'), 'before')
    await until('the first file is sent', saw(watch, { event: 'done', path: '/a.txt' }), watch)
    await end(server)
    await until('the loss is noticed', saw(watch, { event: 'offline' }), watch)
    writeFileSync(join(place, 'one', 'b.txt'), 'meanwhile')
    const portal = createServer((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'))
    portal.listen(server.port, '127.0.0.1')
    const isNamed = () => events(watch).some(({ message }) => String(message).includes('is not an svc server'))
    await until('what answers instead is named', isNamed, watch)
    await new Promise((resolve) => portal.close(resolve))
    await serve(server.port)
    await until('the server is back', saw(watch, { event: 'online' }), watch)
    await until('what waited is sent', saw(watch, { event: 'done', path: '/b.txt' }), watch)
    const said = (event: string): number => events(watch).filter((each) => each['event'] === event).length
    expect([said('offline'), said('online')]).toEqual([2, 1])
    expect(await end(watch, 'SIGINT')).toBe(130)
  },
)

test(
  'a folder that is not there any more is left alone, and nothing is deleted for it; the other goes on',
  { timeout: 180_000 },
  async () => {
    await signedIn('one', 'two')
    writeFileSync(join(place, 'one', 'a.txt'), 'a')
    const watch = start(['sync', 'one', 'two', '--watch', '--json'])
    await until('both are in step', () => text('two', 'a.txt') === 'a', watch)
    renameSync(join(place, 'one'), join(place, 'gone'))
    mkdirSync(join(place, 'one'))
    writeFileSync(join(place, 'two', 'b.txt'), 'b')
    await until('it is left alone', saw(watch, { event: 'paused', root: join(place, 'one'), reason: 'gone' }), watch)
    await until('the other goes on', saw(watch, { event: 'done', path: '/b.txt' }), watch)
    expect(text('two', 'a.txt')).toBe('a')
    expect(text('one', 'a.txt')).toBeUndefined()
    expect(await end(watch)).toBe(0)
  },
)

test('a sign-in that is taken back ends it with exit code 4', { timeout: 180_000 }, async () => {
  await signedIn('one')
  const watch = start(['sync', '--watch', '--json'])
  writeFileSync(join(place, 'one', 'a.txt'), 'a')
  await until('a file is sent', saw(watch, { event: 'done', path: '/a.txt' }), watch)
  await svc(['device', 'revoke', 'ada', '--all', '--yes'])
  writeFileSync(join(place, 'one', 'b.txt'), 'b')
  expect(await watch.ended).toBe(4)
})
