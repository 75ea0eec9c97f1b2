import { isoOrNull } from '../../base/clock.ts'
import { admin } from '../../contract/admin.ts'
import { auditActorOf, confirmPassword } from '../actor.ts'
import { handle } from '../handler.ts'

export const resumeBackupSchedule = handle(admin.actions.resume_backup_schedule, async (call) => {
  await confirmPassword(call, call.params.current_password)
  const { backups } = call.domain
  const resumed = await backups.settings.resume(auditActorOf(call))
  return { resumed, next_at: isoOrNull(await backups.schedule.next()) }
})
