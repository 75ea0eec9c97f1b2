import { fault } from '../../contract/errors.ts'
import {
  isJobRunning,
  jobServer,
  lastJob,
  putJob,
  type BackupJob,
  type JobResult,
} from '../../storage/instance/backup-job-records.ts'
import type { AuditActor } from '../instance/instance.ts'
import type { BackupContext } from './backup-context.ts'
import { writeUnseen } from './unchanged-backup.ts'

export type { BackupJob, JobResult } from '../../storage/instance/backup-job-records.ts'

export type JobRequest = Pick<BackupJob, 'kind' | 'backup' | 'by'>

type JobProgress = Pick<BackupJob, 'done_bytes' | 'total_bytes'>

/** The record of commands on backups that administrators start in the browser: one at a time on all servers. */
export const makeBackupJobs = (deps: Pick<BackupContext, 'database' | 'clock' | 'audit' | 'scratch'>) => {
  const { database, clock, audit } = deps
  /** Progress of the last job of this process, by its token. Its record is older. */
  let [own, progress]: [string | undefined, JobProgress] = [undefined, { done_bytes: 0 }]
  const withProgress = (job: BackupJob): BackupJob => (job.server.token === own ? { ...job, ...progress } : job)

  return {
    /** The last job, and whether it runs. A job without a result that does not run was interrupted. */
    async last(): Promise<(BackupJob & { isRunning: boolean }) | undefined> {
      const job = await lastJob(database.read)
      return job && { ...withProgress(job), isRunning: isJobRunning(job, clock.now()) }
    },

    /** Records a job of this process. Fault: `conflict` while another one runs. */
    begin: (request: JobRequest, actor: AuditActor): Promise<BackupJob> =>
      database.write('instance', async (tx) => {
        const now = clock.now()
        const before = await lastJob(tx)
        if (before && isJobRunning(before, now))
          throw fault('conflict', {
            text: `${before.by} already started a job on the backups. Wait until it has ended.`,
          })
        const job: BackupJob = { ...request, started_at: now, done_bytes: 0, server: jobServer(now) }
        await putJob(tx, job)
        const { kind, backup } = request
        const detail = { job: kind, ...(backup && { id: backup }) }
        await audit.record(tx, { kind: 'backup.requested', ...actor, detail })
        return job
      }),

    /** Progress of a job of this process. `touch` and `end` record it. */
    report({ server }: BackupJob, current: JobProgress): void {
      ;[own, progress] = [server.token, current]
    },

    /** Whether somebody asked to stop a job of this process, or another job has replaced it. */
    async isStopping({ server }: BackupJob): Promise<boolean> {
      const job = await lastJob(database.read)
      return job?.server.token !== server.token || job.isStopping === true
    },

    /** Records that a job of this process still runs. */
    touch: ({ server }: BackupJob): Promise<void> =>
      database.write('instance', async (tx) => {
        const job = await lastJob(tx)
        if (job?.server.token === server.token)
          await putJob(tx, { ...withProgress(job), server: { ...job.server, touched_at: clock.now() } })
      }),

    /** Keeps the database unchanged as the next backup sees it, if nothing else was written. */
    end: ({ server }: BackupJob, result: JobResult): Promise<void> =>
      writeUnseen(deps, async (tx) => {
        const job = await lastJob(tx)
        if (job?.server.token === server.token)
          await putJob(tx, { ...withProgress(job), result, ended_at: clock.now() })
      }),

    /** Asks the server of the running job to stop it; false if none runs. */
    stop: (actor: AuditActor): Promise<boolean> =>
      database.write('instance', async (tx) => {
        const job = await lastJob(tx)
        if (!job || !isJobRunning(job, clock.now())) return false
        if (job.isStopping) return true
        await putJob(tx, { ...job, isStopping: true })
        await audit.record(tx, { kind: 'backup.stopped', ...actor, detail: { job: job.kind } })
        return true
      }),
  }
}
