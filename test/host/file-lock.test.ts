import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import type * as Fs from 'node:fs'
import { existsSync, readdirSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { isLocked, tryLock, whileLocked } from '../../src/host/file-lock.ts'
import { ownIdentity } from '../../src/host/process-identity.ts'

/** What somebody else does just before a lock is made, once. */
let before: ((file: string) => void) | undefined
/** What somebody else does just after a lock was read, once, and just before it is removed. */
let afterRead: (() => void) | undefined
let beforeRemoval: (() => void) | undefined
vi.mock('node:fs', async (original) => {
  const actual = await original<typeof Fs>()
  const linkSync: typeof actual.linkSync = (from, to) => {
    before?.(String(to))
    actual.linkSync(from, to)
  }
  let reading: number | undefined
  const openSync: typeof actual.openSync = (path, ...rest) => {
    const file = actual.openSync(path, ...rest)
    if (path === lock) reading = file
    return file
  }
  const closeSync: typeof actual.closeSync = (file) => {
    actual.closeSync(file)
    if (file !== reading) return
    reading = undefined
    afterRead?.()
  }
  const rmSync: typeof actual.rmSync = (path, options) => {
    if (path === lock) beforeRemoval?.()
    actual.rmSync(path, options)
  }
  return { ...actual, linkSync, openSync, closeSync, rmSync }
})

let folder: string
let lock: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-lock-'))
  lock = join(folder, 'counter.lock')
  onTestFinished(() => rm(folder, { recursive: true }))
})

test('no two pieces of work run at once', async () => {
  const counter = join(folder, 'counter')
  await writeFile(counter, '0')
  const increment = () =>
    whileLocked(lock, async () => {
      const before = Number(await readFile(counter, 'utf8'))
      await new Promise((resolve) => setImmediate(resolve))
      await writeFile(counter, String(before + 1))
    })
  await Promise.all(Array.from({ length: 10 }, increment))
  expect(await readFile(counter, 'utf8')).toBe('10')
  expect(await readdir(folder)).toEqual(['counter'])
})

test('work that fails lets go of the lock', async () => {
  const failing = whileLocked(lock, async () => Promise.reject(new Error('no')))
  await expect(failing).rejects.toThrow('no')
  expect(await whileLocked(lock, async () => 'done')).toBe('done')
})

const dead = { ...ownIdentity(), pid: 2 ** 22 - 1, token: 'dead' }

test('a lock that a killed process left behind is taken over, and leaves nothing behind', async () => {
  for (const text of ['', '{', JSON.stringify(dead), JSON.stringify({ ...ownIdentity(), began: 'another boot 7' })]) {
    await writeFile(lock, text)
    expect(isLocked(lock)).toBe(false)
    expect(await whileLocked(lock, async () => 'done')).toBe('done')
    expect(await readdir(folder)).toEqual([])
  }
})

test('who was killed while it removed a stale lock keeps nobody from doing so', async () => {
  await writeFile(lock, JSON.stringify(dead))
  await writeFile(`${lock}.dead.stale`, JSON.stringify({ ...dead, token: 'remover' }))
  await writeFile(`${lock}.dead.stale.remover.stale`, '')
  expect(await whileLocked(lock, async () => 'done')).toBe('done')
  expect(await readdir(folder)).toEqual([])
})

test('a stale lock is removed by one process at a time, and not once another has taken its place', async () => {
  await writeFile(lock, JSON.stringify(dead))
  const remover = `${lock}.dead.stale`
  await writeFile(remover, JSON.stringify({ ...ownIdentity(), token: 'remover' }))
  expect(tryLock(lock)).toBeUndefined()
  expect(JSON.parse(await readFile(lock, 'utf8'))).toEqual(dead)
  await rm(remover)

  // Between our look at the stale lock and our turn to remove it somebody else removes it and takes the lock.
  const theirs = JSON.stringify({ ...ownIdentity(), token: 'theirs' })
  before = (file) => {
    if (file === remover) writeFileSync(lock, theirs)
  }
  onTestFinished(() => void (before = undefined))
  expect(tryLock(lock)).toBeUndefined()
  expect(await readFile(lock, 'utf8')).toBe(theirs)
  expect(await readdir(folder)).toEqual(['counter.lock'])
})

test('a lock of another machine is held, and waited for only as long as such work can last', async () => {
  await writeFile(lock, JSON.stringify({ ...dead, host: 'elsewhere', scope: 'another machine' }))
  expect(tryLock(lock)).toBeUndefined()
  expect(tryLock(lock, { abandoned: 60_000 })).toBeUndefined()
  const hourAgo = Date.now() / 1_000 - 3_600
  await utimes(lock, hourAgo, hourAgo)
  expect(tryLock(lock)).toBeUndefined()
  expect(await whileLocked(lock, async () => 'done')).toBe('done')
})

const lineOf = async ({ stdout }: { stdout: Readable }): Promise<string> =>
  String(((await once(stdout, 'data')) as [Buffer])[0])

/** Builds a program from source beside the modules of `src/host`. */
async function programOf(contents: string): Promise<string> {
  const outfile = join(folder, 'program.mjs')
  const resolveDir = fileURLToPath(new URL('../../src/host', import.meta.url))
  const options = { outfile, bundle: true, platform: 'node', format: 'esm' } as const
  await build({ ...options, stdin: { contents, resolveDir, loader: 'ts' } })
  return outfile
}

const minutesAgo = (minutes: number) => Date.now() / 1_000 - 60 * minutes

test('a lock of a container with the same host name is held for as long as that touches it', async () => {
  await writeFile(lock, JSON.stringify({ ...dead, scope: 'a container' }))
  expect(tryLock(lock)).toBeUndefined()
  expect(isLocked(lock)).toBe(true)
  await utimes(lock, minutesAgo(9), minutesAgo(9))
  expect(tryLock(lock)).toBeUndefined()
  await utimes(lock, minutesAgo(11), minutesAgo(11))
  expect(isLocked(lock)).toBe(false)
  tryLock(lock)!()
  expect(await readdir(folder)).toEqual([])
})

test('a lock of an earlier version, which nobody touches, is held until somebody removes it', async () => {
  await writeFile(lock, JSON.stringify({ pid: dead.pid, host: hostname(), began: 'x', token: 'dead' }))
  await utimes(lock, minutesAgo(600), minutesAgo(600))
  expect(tryLock(lock)).toBeUndefined()
  expect(tryLock(lock, { abandoned: 60_000 })).toBeDefined()
})

test('a held lock is touched until it is released or taken over', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const isTouched = async () => {
    await utimes(lock, minutesAgo(11), minutesAgo(11))
    vi.advanceTimersByTime(30_000)
    return statSync(lock).mtimeMs > Date.now() - 60_000
  }
  const letGo = tryLock(lock)!
  expect(await isTouched()).toBe(true)
  const own = await readFile(lock, 'utf8')
  await writeFile(lock, JSON.stringify(dead))
  expect(await isTouched()).toBe(false)
  await writeFile(lock, own)
  expect(await isTouched()).toBe(false)
  letGo()
  expect(await readdir(folder)).toEqual([])
  expect(vi.getTimerCount()).toBe(0)
})

/** Runs a program in a PID namespace of its own, as a container does. */
const CONTAINER = ['--user', '--map-root-user', '--pid', '--fork', '--kill-child', '--mount-proc']
const hasContainers = spawnSync('unshare', [...CONTAINER, 'true']).status === 0

test.skipIf(!hasContainers)(
  'processes of two containers with one host name respect the locks of each other',
  async () => {
    const program = await programOf(`
    import { tryLock } from './file-lock.ts'
    const release = tryLock(process.argv[2])
    console.log(release ? 'locked' : 'refused')
    process.stdin.on('end', () => release?.()).resume()`)
    const run = () => spawn('unshare', [...CONTAINER, process.execPath, program, lock])
    const first = run()
    onTestFinished(() => void first.kill('SIGKILL'))
    expect(await lineOf(first)).toBe('locked\n')
    expect(tryLock(lock)).toBeUndefined()
    const second = run()
    expect(await lineOf(second)).toBe('refused\n')
    for (const child of [second, first]) {
      child.stdin.end()
      await once(child, 'exit')
    }
    tryLock(lock)!()
  },
)

test('a stale lock that somebody else removes meanwhile is not removed again', () => {
  writeFileSync(lock, JSON.stringify(dead))
  afterRead = () => {
    afterRead = undefined
    unlinkSync(lock)
  }
  const removals: boolean[] = []
  beforeRemoval = () => void removals.push(existsSync(lock))
  onTestFinished(() => void (beforeRemoval = undefined))
  const letGo = tryLock(lock)
  expect(removals).toEqual([])
  letGo!()
  expect(removals).toEqual([true])
  expect(readdirSync(folder)).toEqual([])
})

test('many processes that find stale locks again and again work one at a time', { timeout: 240_000 }, async () => {
  const program = await programOf(`
        import { readFileSync, renameSync, writeFileSync } from 'node:fs'
        import { whileLocked } from './file-lock.ts'
        const [lock, counter, times] = process.argv.slice(2)
        const dead = (token) => JSON.stringify({ ...${JSON.stringify(dead)}, token })
        for (let time = 1; time <= Number(times); time += 1) await whileLocked(lock, async () => {
          const before = Number(readFileSync(counter, 'utf8'))
          await new Promise((resolve) => setImmediate(resolve))
          writeFileSync(counter, String(before + 1))
          if (time % 3 > 0) return
          // As if this process had been killed with the lock in its hands.
          writeFileSync(counter + process.pid, dead('dead' + process.pid + time))
          renameSync(counter + process.pid, lock)
        })`)
  const counter = join(folder, 'counter')
  await writeFile(counter, '0')
  const children = Array.from({ length: 6 }, () => spawn(process.execPath, [program, lock, counter, '60']))
  const codes = await Promise.all(children.map(async (child) => ((await once(child, 'exit')) as [number])[0]))
  expect(codes).toEqual(children.map(() => 0))
  expect(await readFile(counter, 'utf8')).toBe('360')
})

test('a lock in a folder that is not there is an error', async () => {
  await expect(whileLocked(join(folder, 'missing', 'lock'), async () => 'done')).rejects.toMatchObject({
    code: 'ENOENT',
  })
})
