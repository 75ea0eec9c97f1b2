import { desktopComponents } from '../../contract/desktop-components.ts'
import { handle } from '../handler.ts'

export const renameProfile = handle(desktopComponents.actions.rename_profile, async ({ params, caller, domain }) => {
  await domain.desktop.profiles.rename(caller.user.id, params.profile_id, params.name)
  return {}
})
