import { admin } from '../../contract/admin.ts'
import { handle } from '../handler.ts'

export const stopBackupJob = handle(admin.actions.stop_backup_job, async ({ domain }) => ({
  stopping: await domain.backups.jobs.stop(),
}))
