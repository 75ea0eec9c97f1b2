import { isoOrNull } from '../../base/clock.ts'
import { admin } from '../../contract/admin.ts'
import { auditActorOf, confirmPassword } from '../actor.ts'
import { handle } from '../handler.ts'

export const setBackupSchedule = handle(admin.actions.set_backup_schedule, async (call) => {
  const { schedule, current_password } = call.params
  await confirmPassword(call, current_password)
  const { backups } = call.domain
  const stored = await backups.settings.reschedule(schedule ?? '', auditActorOf(call))
  return { schedule: stored || null, next_at: isoOrNull(await backups.schedule.next()) }
})
