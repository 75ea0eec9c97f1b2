import { desktopComponents } from '../../contract/desktop-components.ts'
import { editorOf } from '../component-editor.ts'
import { handle } from '../handler.ts'

export const loadProfile = handle(desktopComponents.actions.load_profile, async ({ params, caller, domain }) => {
  const { profile_id, exclusive = false } = params
  return { components_loaded: await domain.desktop.profiles.load(editorOf(caller), profile_id, exclusive) }
})
