import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { errorCode } from '../base/errors.ts'
import { memoryOfTree } from './sandbox-memory.ts'

/** Bytes of output kept, of both streams together. A command that writes more is stopped. */
const OUTPUT_MAX = 65_536
const OUTPUT_END = 16 * 1_048_576

/** Interval of memory checks, ms. */
const CHECK_INTERVAL_MS = 100

export interface Ended {
  code: number | null
  output: string
  timedOut: boolean
  truncated: boolean
}

interface Job {
  command: readonly string[]
  env: Record<string, string>
  /** The user ID to start as; undefined for the current user. */
  user: number | undefined
  /** Memory limit of all its processes, bytes; undefined if a control group enforces it. */
  memory: number | undefined
  /** Descriptor of the system call filter. */
  filter: number
  timeoutMs: number
  signal: AbortSignal
}

/** Children of a process with one thread; none where the kernel does not list them. */
function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  } catch {
    return []
  }
}

/** Runs a sandbox to its end; kills the whole process group when it exceeds a limit or `signal` aborts. */
export function runSandboxed({ command, env, user, memory, filter, timeoutMs, signal }: Job): Promise<Ended> {
  return new Promise((done, failed) => {
    signal.throwIfAborted()
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
      const send = (target: number, sent: NodeJS.Signals): void => {
        try {
          process.kill(target, sent)
        } catch (error) {
          // It ended just now.
          if (errorCode(error) !== 'ESRCH') throw error
        }
      }
      // The child of bubblewrap leaves the group before it ties its life to its parent's.
      send(child.pid, 'SIGSTOP')
      for (const target of [...childrenOf(child.pid), -child.pid]) send(target, 'SIGKILL')
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

/** Kills a sandbox whose processes exceed the memory limit; returns a function that stops watching. */
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
      await new Promise((resolve) => setTimeout(resolve, CHECK_INTERVAL_MS))
    }
  }
  watch().catch(failed)
  return () => void (isOver = true)
}
