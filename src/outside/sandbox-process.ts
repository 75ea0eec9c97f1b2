import { spawn } from 'node:child_process'
import { errorCode } from '../base/errors.ts'
import { memoryOfTree } from './sandbox-memory.ts'

/** Bytes of output that are kept, of both streams together, and after which a command is stopped: reading them costs the server time. */
const OUTPUT_MAX = 65_536
const OUTPUT_END = 16 * 1_048_576

/** How often the memory is looked at, ms. */
const LOOK_MS = 100

/** How a command ended. */
export interface Ended {
  code: number | null
  output: string
  timedOut: boolean
  truncated: boolean
}

interface Job {
  command: readonly string[]
  env: Record<string, string>
  /** Whom it is started as, where not as whoever starts it. */
  user: number | undefined
  /** Bytes that all its processes may use together, where nobody else counts them. */
  memory: number | undefined
  /** Descriptor of the filter of system calls. */
  filter: number
  timeoutMs: number
  signal: AbortSignal
}

/** Starts a sandbox and waits for it to end; the whole group is killed when it takes too much or nobody waits any more. */
export function runSandboxed({ command, env, user, memory, filter, timeoutMs, signal }: Job): Promise<Ended> {
  return new Promise((done, failed) => {
    const [program = '', ...args] = command
    const child = spawn(program, args, {
      ...(user !== undefined && { uid: user, gid: user }),
      env,
      cwd: '/',
      shell: false,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', filter],
    })
    const pieces: Buffer[] = []
    let size = 0
    let timedOut = false
    const kill = (): void => {
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
      try {
        process.kill(-child.pid, 'SIGKILL')
      } catch (error) {
        // It ended at this moment.
        if (errorCode(error) !== 'ESRCH') throw error
      }
    }
    const take = (piece: Buffer): void => {
      if (size < OUTPUT_MAX) pieces.push(piece.subarray(0, OUTPUT_MAX - size))
      size += piece.length
      if (size > OUTPUT_END) kill()
    }
    child.stdout!.on('data', take)
    child.stderr!.on('data', take)
    const timer = setTimeout(() => {
      timedOut = true
      kill()
    }, timeoutMs)
    const endWatch = watchMemory(child.pid, memory, kill, failed)
    signal.addEventListener('abort', kill, { once: true })
    // Nobody is told of what happened before.
    if (signal.aborted) kill()
    const settle = (): void => {
      clearTimeout(timer)
      endWatch()
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

/** Kills a sandbox whose processes use too much memory together; returns how to end watching. */
function watchMemory(
  pid: number | undefined,
  most: number | undefined,
  kill: () => void,
  failed: (error: unknown) => void,
): () => void {
  if (pid === undefined || most === undefined) return () => undefined
  let isOver = false
  const watch = async (): Promise<void> => {
    while (!isOver) {
      if ((await memoryOfTree(pid)) > most) kill()
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    }
  }
  watch().catch(failed)
  return () => void (isOver = true)
}
