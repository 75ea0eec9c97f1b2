import { desktopComponents } from '../../contract/desktop-components.ts'
import { editorOf } from '../component-editor.ts'
import { handle } from '../handler.ts'

export const activate = handle(desktopComponents.actions.activate, async ({ params, caller, domain }) => {
  const { component_id, version } = params
  await domain.desktop.components.activate(editorOf(caller), component_id, version)
  return { component_id, version }
})
