import { desktopComponents } from '../../contract/desktop-components.ts'
import { handle } from '../handler.ts'

export const list = handle(desktopComponents.actions.list, async ({ caller, domain }) => ({
  components: await domain.desktop.components.list(caller.user.id),
}))
