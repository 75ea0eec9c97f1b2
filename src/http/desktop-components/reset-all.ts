import { desktopComponents } from '../../contract/desktop-components.ts'
import { handle } from '../handler.ts'

export const resetAll = handle(desktopComponents.actions.reset_all, async ({ caller, domain }) => ({
  deactivated: await domain.desktop.components.resetOwn(caller.user.id),
}))
