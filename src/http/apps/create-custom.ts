import { apps } from '../../contract/apps.ts'
import { handle } from '../handler.ts'

export const createCustom = handle(apps.actions.create_custom, async ({ params, caller, domain, origin }) => ({
  id: await domain.desktop.apps.createCustom(caller.user.id, params, origin),
}))
