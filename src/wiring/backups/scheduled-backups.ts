import { spawn, type ChildProcess } from 'node:child_process'
import { SECOND } from '../../base/clock.ts'
import type { Local } from '../local-domain.ts'

/** How to start this program again. */
export interface Program {
  command: string
  args: readonly string[]
  env: NodeJS.ProcessEnv
  /** Interval of checking the schedule, in milliseconds. */
  every?: number
}

export interface Log {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

const EVERY = 20 * SECOND
/** Limit of the child's output that is kept, in characters. */
const MAX_OUTPUT = 64 << 10

export interface ProcessResult {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

/** The object in the output of a command with `--json`; empty if there is none. */
export function parseOutput(text: string): Record<string, unknown> {
  try {
    return (JSON.parse(text) as Record<string, unknown> | null) ?? {}
  } catch {
    return {}
  }
}

/** Resolves when the process and its output have ended. Of longer output, the end is kept. */
export function processResult(child: ChildProcess, maxOutput = MAX_OUTPUT): Promise<ProcessResult> {
  const output = { stdout: '', stderr: '' }
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.once('close', (code, signal) => resolve({ code, signal, ...output }))
    // Without free file descriptors there are no pipes, and an error follows.
    for (const name of ['stdout', 'stderr'] as const)
      child[name]
        ?.setEncoding('utf8')
        .on('data', (text: string) => (output[name] = (output[name] + text).slice(-maxOutput)))
  })
}

/**
 * Returns a function that records why a command which began after this call created no backup, unless the command did so itself: it
 * does not before its destination is open, nor when it is killed.
 */
export async function failureRecorder({
  domain: { backups, instance },
}: Pick<Local, 'domain'>): Promise<(message: string) => Promise<void>> {
  const before = await backups.lastFailure()
  return async (message) => {
    const noted = await backups.lastFailure()
    if (noted?.at === before?.at) await backups.failed(message, (await instance.settings.values())['backup.to'])
  }
}

/**
 * Makes scheduled backups, each in its own process, so that requests are not delayed. Returns a function that stops the
 * schedule and a backup in progress, which is made again when the server runs.
 */
export function startScheduledBackups(
  local: Local,
  { command, args, env, every = EVERY }: Program,
  log: Log,
): () => Promise<void> {
  const { domain, directory } = local
  let child: ChildProcess | undefined
  let running: Promise<void> = Promise.resolve()
  let isBusy = false
  let isStopped = false

  async function makeOne(release: () => Promise<void>): Promise<void> {
    const start = performance.now()
    const words = ['backup', 'create', '--prune', '--json', '--data-dir', directory.path]
    const recordFailure = await failureRecorder(local)
    child = spawn(command, [...args, ...words], { env, stdio: ['ignore', 'pipe', 'pipe'] })
    const { code, signal, stdout, stderr } = await processResult(child)
    child = undefined
    const took_ms = Math.round(performance.now() - start)
    const { id, added_bytes, removed, repaired, problem } = parseOutput(stdout)
    const result = { id, added_bytes, removed, repaired, problem, took_ms, code }
    if (code === 0 || code === 3) return log[code === 0 ? 'info' : 'warn'](result, 'backup made')
    if (isStopped) {
      log.info({ took_ms }, 'backup stopped with the server; it is made when the server runs again')
      return release()
    }
    const reason = parseOutput(stderr.trim().split('\n').at(-1)!)['error']
    const message = typeof reason === 'string' ? reason : `it ended with ${signal ?? code}`
    log.error({ reason: message, took_ms }, 'backup failed')
    await recordFailure(message)
  }

  async function runIfDue(): Promise<void> {
    if (isBusy || isStopped) return
    isBusy = true
    try {
      const due = await domain.backups.schedule.claim()
      if (due) await makeOne(due.release)
    } catch (error) {
      log.error({ err: error }, 'backup failed')
    } finally {
      isBusy = false
    }
  }

  const timer = setInterval(() => {
    if (!isBusy) running = runIfDue()
  }, every)
  timer.unref()
  return async () => {
    isStopped = true
    clearInterval(timer)
    child?.kill('SIGTERM')
    await running
  }
}
