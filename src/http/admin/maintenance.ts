import { admin } from '../../contract/admin.ts'
import { handle } from '../handler.ts'
import { maintenanceView } from './maintenance-view.ts'

export const maintenance = handle(admin.actions.maintenance, async ({ domain }) =>
  maintenanceView(await domain.instance.settings.maintenance()),
)
