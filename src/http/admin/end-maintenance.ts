import { admin } from '../../contract/admin.ts'
import { handle } from '../handle.ts'
import { doing } from './acting.ts'

export const endMaintenance = handle(admin.actions.end_maintenance, async (call) => ({
  was_on: await call.domain.instance.maintenance.end(doing(call)),
}))
