import { admin } from '../../contract/admin.ts'
import { auditActorOf, confirmPassword } from '../actor.ts'
import { handle } from '../handler.ts'

export const setBackupRetention = handle(admin.actions.set_backup_retention, async (call) => {
  const { current_password, ...keep } = call.params
  await confirmPassword(call, current_password)
  const { backups } = call.domain
  await backups.settings.retain(keep, auditActorOf(call))
  return { keep: await backups.keep() }
})
