import { admin } from '../../contract/admin.ts'
import { handle } from '../handler.ts'
import { auditActorOf } from '../actor.ts'

export const endMaintenance = handle(admin.actions.end_maintenance, async (call) => ({
  was_on: await call.domain.instance.maintenance.end(auditActorOf(call)),
}))
