import { spawn } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { chown, lstat, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve, sep } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { recognise } from '../base/trouble.ts'

/** A command with what it needs; paths are relative to the home of the sandbox. */
export interface SandboxJob {
  command: string
  files: AsyncIterable<{ path: string; content: AsyncIterable<Uint8Array> | Uint8Array }>
  signal: AbortSignal
}

export interface SandboxOptions {
  /** Wall clock of one command. */
  timeoutMs?: number
  bwrap?: string
}

/** Bytes of output that are kept, of both streams together. */
const OUTPUT_MAX = 65_536

/** `nobody`, whom the sandbox runs as inside, and as whom it is started where the server is root. */
const NOBODY = 65_534

const PREFIX = 'svc-sandbox-'

/** A snapshot that a killed server left is removed after this long. */
const STALE_MS = 3_600_000

const isRoot = process.getuid?.() === 0

const words = (text: string): string[] => text.trim().split(/\s+/)

/** A machine with its programs and nothing else: no network, no rights, no users, no environment. */
const WALLS = words(`
  --unshare-all --unshare-user --disable-userns --die-with-parent --new-session --clearenv --cap-drop ALL
  --uid ${NOBODY} --gid ${NOBODY} --hostname sandbox
  --ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/lib /lib --symlink usr/lib64 /lib64
  --proc /proc --dev /dev --size 67108864 --tmpfs /tmp --dir /etc
  --chdir /home --setenv PATH /usr/bin:/bin --setenv HOME /home --setenv LANG C.UTF-8`)

const LIMITS = words('prlimit --cpu=10 --as=536870912 --fsize=33554432 --nofile=64 --core=0 --nproc=64')

/** The command is a file of the sandbox: as an argument everybody on the machine would see it. */
function argumentsFor(folder: string): string[] {
  const mounts = ['--ro-bind', join(folder, 'home'), '/home', '--ro-bind', join(folder, 'command'), '/command']
  return [...WALLS, ...mounts, '--', ...LIMITS, '/bin/sh', '/command']
}

/** Hands something to the user the sandbox is started as. */
const give = (path: string): Promise<void> => (isRoot ? chown(path, NOBODY, NOBODY) : Promise.resolve())

/** Writes the files of a job below a folder; regular files only, and none outside it. */
async function lay(home: string, files: SandboxJob['files'], signal: AbortSignal): Promise<void> {
  const made = new Set([home])
  for await (const { path, content } of files) {
    signal.throwIfAborted()
    const target = resolve(home, path)
    if (!target.startsWith(home + sep)) throw new Error('A file of a snapshot stands outside it.')
    const missing: string[] = []
    for (let folder = dirname(target); !made.has(folder); folder = dirname(folder)) missing.unshift(folder)
    for (const folder of missing) {
      await mkdir(folder, { mode: 0o700 })
      await give(folder)
      made.add(folder)
    }
    const pieces = content instanceof Uint8Array ? [content] : content
    await pipeline(pieces, createWriteStream(target, { flags: 'wx', mode: 0o400 }), { signal })
    await give(target)
  }
}

/** Removes what servers that were killed left behind. */
async function sweep(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    if (!name.startsWith(PREFIX)) continue
    const folder = join(parent, name)
    const stat = await lstat(folder).catch(() => undefined)
    if (!stat?.isDirectory()) continue
    const ours = stat.uid === process.getuid?.() || (isRoot && stat.uid === NOBODY)
    if (ours && Date.now() - stat.mtimeMs > STALE_MS) await rm(folder, { recursive: true, force: true })
  }
}

interface Ended {
  code: number | null
  output: string
  timedOut: boolean
  truncated: boolean
}

/** Starts bubblewrap and waits for it to end; the whole group is killed when time is up or nobody waits any more. */
function start(bwrap: string, folder: string, timeoutMs: number, signal: AbortSignal): Promise<Ended> {
  return new Promise((done, failed) => {
    const user = isRoot ? { uid: NOBODY, gid: NOBODY } : {}
    // Process 1 of the sandbox is bubblewrap with the environment it was started with, so that has to be empty.
    const child = spawn(bwrap, argumentsFor(folder), {
      ...user,
      env: {},
      cwd: '/',
      shell: false,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const pieces: Buffer[] = []
    let size = 0
    let timedOut = false
    const take = (piece: Buffer): void => {
      if (size < OUTPUT_MAX) pieces.push(piece.subarray(0, OUTPUT_MAX - size))
      size += piece.length
    }
    child.stdout.on('data', take)
    child.stderr.on('data', take)
    const kill = (): void => {
      if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
        process.kill(-child.pid, 'SIGKILL')
    }
    const timer = setTimeout(() => {
      timedOut = true
      kill()
    }, timeoutMs)
    signal.addEventListener('abort', kill, { once: true })
    const settle = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', kill)
    }
    child.once('error', (error) => {
      settle()
      failed(error)
    })
    child.once('close', (code) => {
      settle()
      const output = Buffer.concat(pieces)
        .toString()
        .replace(/\ufffd+$/, '')
      if (signal.aborted) failed(signal.reason as Error)
      else done({ code, output, timedOut, truncated: size > OUTPUT_MAX })
    })
  })
}

/**
 * Runs commands with bubblewrap: no network, none of the machine's files but its programs, a read-only copy of what they
 * are given, bounded time, memory, processes and output. There is no other way to run one.
 */
export function makeSandbox({ timeoutMs = 20_000, bwrap = '/usr/bin/bwrap' }: SandboxOptions = {}) {
  async function run({ command, files, signal }: SandboxJob): Promise<Ended> {
    signal.throwIfAborted()
    // A neutral place: its path can be seen inside.
    const folder = await mkdtemp(join(tmpdir(), PREFIX))
    try {
      const home = join(folder, 'home')
      await mkdir(home, { mode: 0o700 })
      await lay(home, files, signal)
      await writeFile(join(folder, 'command'), command, { mode: 0o400 })
      for (const path of [join(folder, 'command'), home, folder]) await give(path)
      return await start(bwrap, folder, timeoutMs, signal)
    } catch (error) {
      throw recognise(error)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }

  return {
    run,

    /** Why commands cannot be run here, in a sentence; undefined when they can. Asked once, at start. */
    async probe(): Promise<string | undefined> {
      if (process.platform !== 'linux') return 'Only Linux has what the sandbox is made of.'
      await sweep(tmpdir())
      const none = (async function* () {})()
      try {
        const { code, output } = await run({ command: 'true', files: none, signal: AbortSignal.timeout(timeoutMs) })
        return code === 0 ? undefined : `The sandbox does not start: ${output.trim().split('\n')[0] || `exit ${code}`}.`
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException
        return code === 'ENOENT'
          ? `${bwrap} is missing: install bubblewrap.`
          : `The sandbox does not start: ${message}.`
      }
    },
  }
}
