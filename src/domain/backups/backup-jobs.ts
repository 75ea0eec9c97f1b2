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

export type WantedJob = Pick<BackupJob, 'kind' | 'backup' | 'target' | 'by'>

/** The record of commands on backups that administrators start in the browser: one at a time on all servers. */
export const makeBackupJobs = (deps: Pick<BackupContext, 'database' | 'clock' | 'audit' | 'scratch'>) => {
  const { database, clock, audit } = deps

  return {
    /** The last job, and whether it runs. A job without a result that does not run was interrupted. */
    async last(): Promise<(BackupJob & { isRunning: boolean }) | undefined> {
      const job = await lastJob(database.read)
      return job && { ...job, isRunning: isJobRunning(job, clock.now()) }
    },

    /** Records a job of this process. Fault: `conflict` while another one runs. */
    begin: (wanted: WantedJob, actor: AuditActor): Promise<BackupJob> =>
      database.write('instance', async (tx) => {
        const now = clock.now()
        const before = await lastJob(tx)
        if (before && isJobRunning(before, now))
          throw fault('conflict', {
            text: `${before.by} already started a job on the backups. Wait until it has ended.`,
          })
        const job: BackupJob = { ...wanted, started_at: now, done_bytes: 0, server: jobServer(now) }
        await putJob(tx, job)
        const { kind, backup, target } = wanted
        const detail = { job: kind, ...(backup && { id: backup }), ...(target && { target }) }
        await audit.record(tx, { kind: 'backup.requested', ...actor, detail })
        return job
      }),

    /** Records progress. Returns whether the job is to be stopped. */
    touch: ({ server }: BackupJob, progress: Pick<BackupJob, 'done_bytes' | 'total_bytes'>): Promise<boolean> =>
      database.write('instance', async (tx) => {
        const job = await lastJob(tx)
        if (job?.server.token !== server.token) return true
        await putJob(tx, { ...job, ...progress, server: { ...job.server, touched_at: clock.now() } })
        return job.isStopping === true
      }),

    /** Keeps the database unchanged as the next backup sees it, if nothing else was written. */
    end: ({ server }: BackupJob, result: JobResult): Promise<void> =>
      writeUnseen(deps, async (tx) => {
        const job = await lastJob(tx)
        if (job?.server.token === server.token) await putJob(tx, { ...job, result, ended_at: clock.now() })
      }),

    /** Asks the server of the running job to stop it; false if none runs. */
    stop: (): Promise<boolean> =>
      database.write('instance', async (tx) => {
        const job = await lastJob(tx)
        if (!job || !isJobRunning(job, clock.now())) return false
        await putJob(tx, { ...job, isStopping: true })
        return true
      }),
  }
}
