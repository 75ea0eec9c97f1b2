import { apps } from '../../contract/apps.ts'
import { handle } from '../handle.ts'

export const create = handle(apps.actions.create, async ({ params, caller, domain, origin }) => ({
  id: await domain.desktop.apps.create(caller.user.id, params, origin),
}))
