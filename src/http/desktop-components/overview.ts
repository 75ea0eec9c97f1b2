import { desktopComponents } from '../../contract/desktop-components.ts'
import { handle } from '../handler.ts'

export const overview = handle(desktopComponents.actions.overview, async ({ caller, domain }) => ({
  components: await domain.desktop.components.all(caller.user.id),
}))
