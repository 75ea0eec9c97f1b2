import { desktopComponents } from '../../contract/desktop-components.ts'
import { handle } from '../handler.ts'

export const history = handle(desktopComponents.actions.history, async ({ params, caller, domain }) => ({
  versions: await domain.desktop.components.history(caller.user.id, params.component_id),
}))
