import { spawn, type ChildProcess } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { MINUTE, SECOND } from '../../base/clock.ts'
import { withRetry } from '../../base/retry.ts'
import { fault } from '../../contract/errors.ts'
import type { BackupJob, Backups, JobRequest, JobResult } from '../../domain/backups/backups.ts'
import type { HostStatus } from '../../http/host-status.ts'
import { scratchFolder } from '../installation/data-directory.ts'
import type { Local } from '../local-domain.ts'
import {
  failureRecorder,
  parseOutput,
  processResult,
  type Log,
  type ProcessResult,
  type Program,
} from './scheduled-backups.ts'

/** Interval at which a request to stop is noticed. */
const CHECK_EVERY = 2 * SECOND
/** Checks between two records of a job that still runs. */
const CHECKS_PER_TOUCH = 10
/** Time in which a stopped command has to end before it is killed, and after which it is no longer waited for. */
const KILL_AFTER = 10 * SECOND
const GIVE_UP_AFTER = 12 * SECOND
/** Limit of a command's output, in characters. */
const MAX_OUTPUT = 8 << 20
/** Limits of the stored messages: number and length. */
const MAX_MESSAGES = 20
const MAX_LENGTH = 500

function commandArguments({ kind, backup }: JobRequest, place: string, scratch: string): string[] {
  if (kind === 'create') return ['create']
  const name = backup ?? (kind === 'verify' ? undefined : 'latest')
  return [kind, ...(name === undefined ? [] : [name]), '--from', place, '--temp', scratch]
}

interface Document {
  id?: string
  problem?: string
  problems?: (string | { what: string })[]
}

function resultOf({ code, signal, stdout, stderr }: ProcessResult, isStopping: boolean): JobResult {
  const document = parseOutput(stdout) as Document
  const problems = (document.problems ?? []).map((problem) => (typeof problem === 'string' ? problem : problem.what))
  if (stdout.length >= MAX_OUTPUT)
    problems.push('The result is too long for the browser. To read it: svc backup verify')
  const lines = stderr.split('\n').map((line) => parseOutput(line)['error'] ?? line.replace(/^warning: /, ''))
  // A command that printed a result was not stopped before its end.
  const wasStopped = isStopping && code !== 0 && code !== 3 && stdout === ''
  const messages = (wasStopped ? [] : [...problems, ...lines])
    .filter((line): line is string => typeof line === 'string')
    .map((line) => line.trim().slice(0, MAX_LENGTH))
    .filter(Boolean)
    .slice(0, MAX_MESSAGES)
  const state = wasStopped ? 'stopped' : code === 0 ? 'succeeded' : code === 3 ? 'warning' : 'failed'
  if (state === 'failed' && messages.length === 0) messages.push(`The command ended with ${signal ?? code}.`)
  return { state, id: document.id ?? null, messages }
}

/** The result of a process that ends on abort: by SIGTERM, then by SIGKILL, which has no effect while a disk does not answer. */
async function stoppableResult(child: ChildProcess, stopping: AbortSignal): Promise<ProcessResult> {
  const timers: NodeJS.Timeout[] = []
  const abandoned = new Promise<ProcessResult>((resolve) => {
    const stop = (): void => {
      const killed = { code: null, signal: 'SIGKILL', stdout: '', stderr: '' } as const
      child.kill('SIGTERM')
      timers.push(
        setTimeout(() => child.kill('SIGKILL'), KILL_AFTER),
        setTimeout(() => resolve(killed), GIVE_UP_AFTER),
      )
    }
    stopping.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([processResult(child, MAX_OUTPUT), abandoned])
  } finally {
    timers.forEach((timer) => clearTimeout(timer))
  }
}

/** Renews the record of a job, and aborts `stopping` when somebody asks to stop the job. */
function watchJob(jobs: Backups['jobs'], job: BackupJob, onError: (error: unknown) => void) {
  const stopping = new AbortController()
  let checks = 0
  async function check(): Promise<void> {
    if (await jobs.isStopping(job)) stopping.abort()
    if ((checks += 1) % CHECKS_PER_TOUCH === 0) await jobs.touch(job)
  }
  let checking: Promise<void> | undefined
  const timer = setInterval(() => {
    checking ??= check()
      .catch(onError)
      .finally(() => (checking = undefined))
  }, CHECK_EVERY)
  timer.unref()
  return {
    stopping: stopping.signal,
    async end(): Promise<void> {
      clearInterval(timer)
      await checking
    },
  }
}

/**
 * Runs the commands on backups that administrators start in the browser, each in a process of its own as scheduled backups.
 * It reports progress over its IPC channel, and ends when the server does.
 */
export function makeBackupCommands(local: Local, program: Program | undefined) {
  const { domain, directory } = local
  const { backups } = domain
  const closing = new AbortController()
  const unfinished = new Set<Promise<void>>()
  let log: Log | undefined

  async function execute(
    job: BackupJob,
    place: string,
    passphrase: string | undefined,
    stopping: AbortSignal,
  ): Promise<JobResult> {
    const { command, args, env } = program!
    const scratch = scratchFolder(directory)
    await mkdir(scratch, { recursive: true, mode: 0o700 })
    if (stopping.aborted) return { state: 'stopped', id: null, messages: [] }
    const stdin = passphrase === undefined ? [] : ['--passphrase-stdin']
    const own = job.kind === 'create' ? ['--data-dir', directory.path] : []
    const words = ['backup', ...commandArguments(job, place, scratch), ...own, ...stdin, '--json']
    const child = spawn(command, [...args, ...words], {
      // A restore takes the key of encrypted backups from this data directory.
      env: { ...env, SVC_DATA_DIR: directory.path, NO_COLOR: '1', SVC_PROGRESS: 'ipc' },
      stdio: [stdin.length > 0 ? 'pipe' : 'ignore', 'pipe', 'pipe', 'ipc'],
    })
    child.on('message', ({ done, total }: { done: number; total?: number }) =>
      backups.jobs.report(job, { done_bytes: done, total_bytes: total }),
    )
    const ended = stoppableResult(child, stopping)
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(`${passphrase}\n`)
    return resultOf(await ended, stopping.aborted)
  }

  async function run(job: BackupJob, place: string, passphrase: string | undefined): Promise<void> {
    const watch = watchJob(backups.jobs, job, (error) => log?.warn({ err: error }, 'no record of a backup job'))
    const recordFailure = job.kind === 'create' ? await failureRecorder(local) : undefined
    const result = await execute(job, place, passphrase, AbortSignal.any([watch.stopping, closing.signal])).catch(
      (error: Error): JobResult => ({ state: 'failed', id: null, messages: [error.message] }),
    )
    await watch.end()
    log?.[result.state === 'failed' ? 'error' : 'info']({ job: job.kind, ...result }, 'backup job ended')
    const record = async (): Promise<void> => {
      if (result.state === 'failed') await recordFailure?.(result.messages.at(-1)!)
      await backups.jobs.end(job, result)
    }
    await withRetry(record, {
      first: SECOND,
      longest: MINUTE,
      isTemporary: () => !closing.signal.aborted,
      onWait: (_, error) => log?.warn({ err: error }, 'no record of a backup job'),
      signal: closing.signal,
    })
  }

  const start: HostStatus['startBackupJob'] = async (request, { place, passphrase, actor }) => {
    if (!program) throw fault('conflict', { text: 'This server is temporary and has no backups.' })
    if (closing.signal.aborted) throw fault('conflict', { text: 'This server is stopping. Try again later.' })
    const begun = backups.jobs.begin(request, actor)
    const ended: Promise<void> = begun
      .then(
        (job) =>
          run(job, place, passphrase).catch((error: unknown) => log?.error({ err: error }, 'backup job not recorded')),
        () => undefined,
      )
      .finally(() => unfinished.delete(ended))
    unfinished.add(ended)
    await begun
  }

  return {
    start,
    logTo: (to: Log) => void (log = to),
    async close(): Promise<void> {
      closing.abort()
      await Promise.all(unfinished)
    },
  }
}
