import { desktopComponents } from '../../contract/desktop-components.ts'
import { handle } from '../handler.ts'

export const profiles = handle(desktopComponents.actions.profiles, async ({ caller, domain }) => ({
  profiles: await domain.desktop.profiles.list(caller.user.id),
}))
