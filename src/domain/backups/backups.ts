import { options } from '../instance/instance.ts'
import type { Keep } from './retention.ts'

export type { Manifest } from '../../storage/backups/backup-manifest.ts'
export { browseBackup, contentIn, type AccountInBackup, type Browser, type Entry } from './backup-browser.ts'
export type { BackupJob, JobResult, JobRequest } from './backup-jobs.ts'
export type { Created, Target } from './creation.ts'
export type { JobContext } from './job-context.ts'
export { LONG_AGO, type Backups } from './instance-backups.ts'
export { planPruning, type Pruning } from './pruning.ts'
export { rebuild, type Lost } from './rebuild.ts'
export type { Keep } from './retention.ts'
export { databaseProblems, verify, type Verification } from './verification.ts'

/** Retention without settings. */
export const defaultRetention: Keep = {
  last: options['backup.keep_last'].standard,
  daily: options['backup.keep_daily'].standard,
  weekly: options['backup.keep_weekly'].standard,
  monthly: options['backup.keep_monthly'].standard,
}
