import { spawn, type ChildProcess } from 'node:child_process'
import { SECOND } from '../base/clock.ts'
import type { Local } from './local.ts'

/** How this program is started once more. */
export interface Program {
  command: string
  args: readonly string[]
  env: NodeJS.ProcessEnv
  /** How often the schedule is looked at, ms. */
  every?: number
}

interface Log {
  info(fields: object, message: string): void
  error(fields: object, message: string): void
}

const EVERY = 20 * SECOND
/** Longest output of the child that is kept, characters. */
const MAX_OUTPUT = 64 * 1024

interface Outcome {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

/** What a JSON text says, or nothing when it is none. */
function understood(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    return {}
  }
}

function outcomeOf(child: ChildProcess): Promise<Outcome> {
  const said = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name]!.setEncoding('utf8').on('data', (text: string) => (said[name] = (said[name] + text).slice(-MAX_OUTPUT)))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve({ code, signal, ...said }))
  })
}

/**
 * Makes backups when the schedule says so, each in a process of its own, so that requests wait for nothing. The function it
 * returns stops that, and a backup in progress too, which is made up for when the server runs again.
 */
export function startScheduledBackups(
  { domain: { backups, instance }, directory }: Local,
  { command, args, env, every = EVERY }: Program,
  log: Log,
): () => Promise<void> {
  let child: ChildProcess | undefined
  let turn: Promise<void> = Promise.resolve()
  let isBusy = false
  let isStopped = false

  async function makeOne(release: () => Promise<void>): Promise<void> {
    const start = performance.now()
    const words = ['backup', 'create', '--prune', '--json', '--data-dir', directory.path]
    const before = await backups.lastFailure()
    child = spawn(command, [...args, ...words], { env, stdio: ['ignore', 'pipe', 'pipe'] })
    const { code, signal, stdout, stderr } = await outcomeOf(child)
    child = undefined
    const took_ms = Math.round(performance.now() - start)
    const { id, added_bytes, removed } = understood(stdout)
    if (code === 0 || code === 3) return log.info({ id, added_bytes, removed, took_ms, code }, 'backup made')
    if (isStopped) {
      log.info({ took_ms }, 'backup stopped with the server; it is made when the server runs again')
      return release()
    }
    const reason = understood(stderr.trim().split('\n').at(-1)!)['error']
    const message = typeof reason === 'string' ? reason : `it ended with ${signal ?? code}`
    log.error({ reason: message, took_ms }, 'backup failed')
    const noted = await backups.lastFailure()
    if (noted?.at === before?.at) await backups.failed(message, (await instance.settings.values())['backup.to'])
  }

  async function look(): Promise<void> {
    if (isBusy || isStopped) return
    isBusy = true
    try {
      const due = await backups.schedule.claim()
      if (due) await makeOne(due.release)
    } catch (error) {
      log.error({ err: error }, 'backup failed')
    } finally {
      isBusy = false
    }
  }

  const timer = setInterval(() => {
    if (!isBusy) turn = look()
  }, every)
  timer.unref()
  return async () => {
    isStopped = true
    clearInterval(timer)
    child?.kill('SIGTERM')
    await turn
  }
}
