import { spawn } from 'node:child_process'
import { SECOND } from '../../base/clock.ts'
import { fault } from '../../contract/errors.ts'
import type { BackupJob, JobResult, WantedJob } from '../../domain/backups/backups.ts'
import type { HostStatus } from '../../http/host-status.ts'
import type { Local } from '../local-domain.ts'
import { outcomeOf, parseOutput, type Log, type Outcome, type Program } from './scheduled-backups.ts'

/** Interval at which progress is recorded, and a request to stop is noticed. */
const TOUCH_EVERY = 2 * SECOND
/** Sentences of a command that are kept, and their length. */
const MAX_MESSAGES = 20
const MAX_LENGTH = 500

function wordsOf({ kind, backup, target }: WantedJob, place: string): string[] {
  if (kind === 'create') return ['create']
  const name = backup ?? (kind === 'verify' ? undefined : 'latest')
  return [kind, ...(name === undefined ? [] : [name]), '--from', place, ...(target ? ['--data-dir', target] : [])]
}

interface Document {
  id?: string
  problem?: string
  problems?: (string | { what: string })[]
}

function resultOf({ code, signal, stdout, stderr }: Outcome, isStopping: boolean): JobResult {
  const document = parseOutput(stdout) as Document
  const problems = (document.problems ?? []).map((problem) => (typeof problem === 'string' ? problem : problem.what))
  const lines = stderr.split('\n').map((line) => parseOutput(line)['error'] ?? line.replace(/^warning: /, ''))
  const isEnded = isStopping && code !== 0 && code !== 3
  const messages = isEnded ? [] : [...problems, ...lines].filter((line): line is string => typeof line === 'string')
  const told = messages
    .map((line) => line.trim().slice(0, MAX_LENGTH))
    .filter(Boolean)
    .slice(0, MAX_MESSAGES)
  const state = isEnded ? 'stopped' : code === 0 ? 'succeeded' : code === 3 ? 'warning' : 'failed'
  if (state === 'failed' && told.length === 0) told.push(`The command ended with ${signal ?? code}.`)
  return { state, id: document.id ?? null, messages: told }
}

/**
 * Runs the commands on backups that administrators start in the browser, each in a process of its own as scheduled backups.
 * It reports progress over its IPC channel, and ends when the server does.
 */
export function makeBackupCommands({ domain: { backups }, directory }: Local, program: Program | undefined) {
  let running: { end: () => void; ended: Promise<void> } | undefined
  let log: Log | undefined

  function spawnFor(job: BackupJob, place: string, passphrase: string | undefined) {
    const { command, args, env } = program!
    const stdin = passphrase === undefined ? [] : ['--passphrase-stdin']
    const own = job.kind === 'create' ? ['--data-dir', directory.path] : []
    const child = spawn(command, [...args, 'backup', ...wordsOf(job, place), ...own, ...stdin, '--json'], {
      // A restore takes the key of encrypted backups from this data directory.
      env: { ...env, SVC_DATA_DIR: directory.path, NO_COLOR: '1' },
      stdio: [stdin.length > 0 ? 'pipe' : 'ignore', 'pipe', 'pipe', 'ipc'],
    })
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(`${passphrase}\n`)
    return child
  }

  async function run(job: BackupJob, place: string, passphrase: string | undefined): Promise<void> {
    const child = spawnFor(job, place, passphrase)
    const progress: Pick<BackupJob, 'done_bytes' | 'total_bytes'> = { done_bytes: 0 }
    let isStopping = false
    const end = (): void => {
      isStopping = true
      child.kill('SIGTERM')
    }
    child.on('message', (message: { done: number; total?: number }) => {
      progress.done_bytes = message.done
      progress.total_bytes = message.total
    })
    let touching = Promise.resolve()
    const touch = async (): Promise<void> => void ((await backups.jobs.touch(job, progress)) && !isStopping && end())
    const timer = setInterval(() => {
      touching = touching.then(touch).catch((error: unknown) => log?.warn({ err: error }, 'no record of a backup job'))
    }, TOUCH_EVERY)
    running = { end, ended: Promise.resolve() }
    try {
      const result = await outcomeOf(child).then(
        (outcome) => resultOf(outcome, isStopping),
        (error: Error): JobResult => ({ state: 'failed', id: null, messages: [error.message] }),
      )
      log?.info({ job: job.kind, ...result }, 'backup job ended')
      clearInterval(timer)
      await touching
      await backups.jobs.end(job, result)
    } finally {
      clearInterval(timer)
      running = undefined
    }
  }

  const start: HostStatus['startBackupJob'] = async (wanted, { place, passphrase, actor }) => {
    if (!program) throw fault('conflict', { text: 'This server is temporary and has no backups.' })
    const job = await backups.jobs.begin(wanted, actor)
    const ended = run(job, place, passphrase).catch((error: unknown) => log?.error({ err: error }, 'backup job failed'))
    if (running) running.ended = ended
  }

  return {
    start,
    logTo: (to: Log) => void (log = to),
    async close(): Promise<void> {
      running?.end()
      await running?.ended
    },
  }
}
