import { desktopComponents } from '../../contract/desktop-components.ts'
import { handle } from '../handler.ts'

export const deleteProfile = handle(desktopComponents.actions.delete_profile, async ({ params, caller, domain }) => {
  await domain.desktop.profiles.remove(caller.user.id, params.profile_id)
  return {}
})
