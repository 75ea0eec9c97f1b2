import { desktopComponents } from '../../contract/desktop-components.ts'
import { handle } from '../handler.ts'

export const reset = handle(desktopComponents.actions.reset, async ({ params: { component_id }, caller, domain }) => ({
  component_id,
  deactivated: await domain.desktop.components.reset(caller.user.id, component_id),
}))
