import { desktopComponents } from '../../contract/desktop-components.ts'
import { handle } from '../handler.ts'

export const saveProfile = handle(desktopComponents.actions.save_profile, async ({ params, caller, domain }) => {
  const { id, components } = await domain.desktop.profiles.save(caller.user.id, params.name)
  return { profile_id: id, components_saved: components }
})
