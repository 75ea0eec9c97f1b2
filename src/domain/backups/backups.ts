import { options } from '../instance/instance.ts'
import type { Keep } from './retention.ts'

export type { Manifest } from '../../storage/backups/manifest.ts'
export { browseBackup, type AccountInBackup, type Browser, type Entry } from './browse.ts'
export type { Created, Target } from './create.ts'
export type { JobContext } from './job-context.ts'
export type { Backups, LastBackup } from './own.ts'
export { planPruning, type Pruning } from './prune.ts'
export { rebuild } from './rebuild.ts'
export type { Keep } from './retention.ts'
export { verify } from './verify.ts'

/** How many backups are kept where no setting says it. */
export const standardKeep: Keep = {
  last: options['backup.keep_last'].standard,
  daily: options['backup.keep_daily'].standard,
  weekly: options['backup.keep_weekly'].standard,
  monthly: options['backup.keep_monthly'].standard,
}
