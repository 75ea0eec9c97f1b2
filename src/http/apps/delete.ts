import { apps } from '../../contract/apps.ts'
import { handle } from '../handler.ts'

export const deleteApp = handle(apps.actions.delete, async ({ params, caller, domain }) => {
  await domain.desktop.apps.remove(caller.user.id, params.id)
  return {}
})
