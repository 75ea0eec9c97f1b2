import { createWriteStream } from 'node:fs'
import { chown, lstat, mkdir, mkdtemp, open, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve, sep } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { fromSystemError } from '../base/errors.ts'
import { scopeLauncher, type Launcher } from './control-group.ts'
import { runSandboxed, type Ended } from './sandbox-process.ts'
import { syscallFilter } from './syscall-filter.ts'

/** A command and its files; paths are relative to the home folder of the sandbox. */
export interface SandboxJob {
  command: string
  files: AsyncIterable<{ path: string; content: AsyncIterable<Uint8Array> | Uint8Array }>
  signal: AbortSignal
}

export interface SandboxOptions {
  /** Time limit of one command, ms. */
  timeoutMs?: number
  bwrap?: string
  arch?: string
  /** The environment in which a service manager is searched; none without it. */
  env?: NodeJS.ProcessEnv
}

/** Limits of all processes of a command together. */
const LIMITS = { memory: 512 * 1_048_576, tasks: 32 }

/** `nobody`: the user inside the sandbox, and the one that starts it if the server is root. */
const NOBODY = 65_534

const PREFIX = 'svc-sandbox-'

/** Age at which the files of a killed server are removed, ms. */
const STALE_MS = 3_600_000

const UNKNOWN_PROCESSOR = 'The numbers of system calls of this processor are not known, so none could be refused.'

const isRoot = process.getuid?.() === 0

const words = (text: string): string[] => text.trim().split(/\s+/)

/** Descriptor from which bubblewrap reads the system call filter. */
const FILTER_FD = 3

/**
 * The machine's programs and nothing else: no network, privileges, users or environment. Every file system in memory
 * has a size or is read-only; bubblewrap gives `/` and `/dev` none.
 */
const NAMESPACE_OPTIONS = words(`
  --unshare-all --unshare-user --disable-userns --die-with-parent --new-session --clearenv --cap-drop ALL
  --uid ${NOBODY} --gid ${NOBODY} --hostname sandbox
  --ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/lib /lib --symlink usr/lib64 /lib64
  --proc /proc --dev /dev --size 4194304 --tmpfs /dev/shm --remount-ro /dev --size 67108864 --tmpfs /tmp --dir /etc
  --seccomp ${FILTER_FD}
  --chdir /home --setenv PATH /usr/bin:/bin --setenv HOME /home --setenv LANG C.UTF-8`)

/** Limits of each process, and a lower priority than the server. */
const EACH = words(`nice -n 10 prlimit --cpu=10 --as=${LIMITS.memory} --fsize=33554432 --nofile=64 --core=0
  --nproc=${LIMITS.tasks} --memlock=65536 --sigpending=256 --msgqueue=0 --stack=8388608`)

/** The command is a file in the sandbox: every user of the machine can read arguments. */
function argumentsFor(folder: string): string[] {
  const mounts = ['--ro-bind', join(folder, 'home'), '/home', '--ro-bind', join(folder, 'command'), '/command']
  return [...NAMESPACE_OPTIONS, ...mounts, '--remount-ro', '/', '--', ...EACH, '/bin/sh', '/command']
}

const chownToNobody = (path: string): Promise<void> => (isRoot ? chown(path, NOBODY, NOBODY) : Promise.resolve())

/** Writes the files of a job below a folder; regular files only, and none outside it. */
async function writeFiles(home: string, files: SandboxJob['files'], signal: AbortSignal): Promise<void> {
  const made = new Set([home])
  for await (const { path, content } of files) {
    signal.throwIfAborted()
    const target = resolve(home, path)
    if (!target.startsWith(home + sep)) throw new Error('A file of a snapshot stands outside it.')
    const missing: string[] = []
    for (let folder = dirname(target); !made.has(folder); folder = dirname(folder)) missing.unshift(folder)
    for (const folder of missing) {
      await mkdir(folder, { mode: 0o700 })
      await chownToNobody(folder)
      made.add(folder)
    }
    const pieces = content instanceof Uint8Array ? [content] : content
    await pipeline(pieces, createWriteStream(target, { flags: 'wx', mode: 0o400 }), { signal })
    await chownToNobody(target)
  }
}

/** Removes files of killed servers, as far as possible. */
async function sweep(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    if (!name.startsWith(PREFIX)) continue
    const folder = join(parent, name)
    const stat = await lstat(folder).catch(() => undefined)
    if (!stat?.isDirectory()) continue
    const ours = stat.uid === process.getuid?.() || (isRoot && stat.uid === NOBODY)
    if (ours && Date.now() - stat.mtimeMs > STALE_MS)
      await rm(folder, { recursive: true, force: true }).catch(() => undefined)
  }
}

/**
 * Runs commands with bubblewrap: no network, no files but the machine's programs and a read-only copy of the input, few
 * system calls, and limited time, memory, processes and output. A control group of systemd enforces the common limits
 * if available, otherwise the server does. Commands are never run in any other way.
 */
export function makeSandbox({ timeoutMs = 20_000, bwrap = '/usr/bin/bwrap', arch, env = {} }: SandboxOptions = {}) {
  const bytes = syscallFilter(arch)
  /** Starts commands in a control group, if the probe succeeded. */
  let launcher: Launcher | undefined

  async function startFiltered(folder: string, signal: AbortSignal): Promise<Ended> {
    if (!bytes) throw new Error(UNKNOWN_PROCESSOR)
    const path = join(folder, 'filter')
    await writeFile(path, bytes, { mode: 0o400 })
    const filter = await open(path)
    try {
      const user = isRoot && !launcher?.changesUser ? NOBODY : undefined
      const command = [...(launcher?.before ?? []), bwrap, ...argumentsFor(folder)]
      // Process 1 of the sandbox is bubblewrap, whose environment is readable inside, so it must be empty.
      const memory = launcher ? undefined : LIMITS.memory
      return await runSandboxed({
        command,
        env: launcher?.env ?? {},
        user,
        memory,
        filter: filter.fd,
        timeoutMs,
        signal,
      })
    } finally {
      await filter.close()
    }
  }

  async function run({ command, files, signal }: SandboxJob): Promise<Ended> {
    signal.throwIfAborted()
    // A neutral path: it is visible inside.
    const folder = await mkdtemp(join(tmpdir(), PREFIX))
    try {
      const home = join(folder, 'home')
      await mkdir(home, { mode: 0o700 })
      await writeFiles(home, files, signal)
      await writeFile(join(folder, 'command'), command, { mode: 0o400 })
      for (const path of [join(folder, 'command'), home, folder]) await chownToNobody(path)
      return await startFiltered(folder, signal)
    } catch (error) {
      throw fromSystemError(error)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }

  /** Tries to run a command, with one more process: before Linux 5.14 the limit counts those of the whole machine. */
  async function attempt(): Promise<string | undefined> {
    const none = (async function* () {})()
    try {
      const signal = AbortSignal.timeout(timeoutMs)
      const { code, output } = await run({ command: '/usr/bin/true | /usr/bin/true', files: none, signal })
      return code === 0 ? undefined : `The sandbox does not start: ${output.trim().split('\n')[0] || `exit ${code}`}.`
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      return code === 'ENOENT' ? `${bwrap} is missing: install bubblewrap.` : `The sandbox does not start: ${message}.`
    }
  }

  return {
    run,

    /** Why commands cannot be run here, as a sentence; undefined if they can. Called once at start. */
    async probe(): Promise<string | undefined> {
      if (process.platform !== 'linux') return 'Only Linux has what the sandbox is made of.'
      if (!bytes) return UNKNOWN_PROCESSOR
      await sweep(tmpdir())
      launcher = scopeLauncher(LIMITS, isRoot ? NOBODY : undefined, env)
      if (launcher && (await attempt()) === undefined) return undefined
      launcher = undefined
      return attempt()
    },
  }
}
