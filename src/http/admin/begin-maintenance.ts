import { admin } from '../../contract/admin.ts'
import { handle } from '../handler.ts'
import { auditActorOf } from '../actor.ts'
import { maintenanceView } from './maintenance-view.ts'
import { parseTimeParam } from './time-param.ts'

export const beginMaintenance = handle(admin.actions.begin_maintenance, async (call) => {
  const { read_only, message = '', until } = call.params
  const declared = { read_only, message: message.trim(), until: parseTimeParam('until', until) ?? null }
  const { sessions, before } = await call.domain.instance.maintenance.begin(declared, auditActorOf(call))
  return { ...maintenanceView(declared), was_on: before !== undefined, sessions_ended: sessions }
})
