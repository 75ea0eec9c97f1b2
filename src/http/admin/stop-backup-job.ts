import { admin } from '../../contract/admin.ts'
import { auditActorOf } from '../actor.ts'
import { handle } from '../handler.ts'

export const stopBackupJob = handle(admin.actions.stop_backup_job, async (call) => ({
  stopping: await call.domain.backups.jobs.stop(auditActorOf(call)),
}))
