import { apps } from '../../contract/apps.ts'
import { handle } from '../handler.ts'

export const update = handle(apps.actions.update, async ({ params, caller, domain }) => {
  await domain.desktop.apps.update(caller.user.id, params)
  return { id: params.id }
})
