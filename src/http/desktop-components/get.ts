import { desktopComponents } from '../../contract/desktop-components.ts'
import { handle } from '../handler.ts'

export const get = handle(desktopComponents.actions.get, async ({ params, caller, domain }) => ({
  component: await domain.desktop.components.get(caller.user.id, params.component_id, params.version),
}))
