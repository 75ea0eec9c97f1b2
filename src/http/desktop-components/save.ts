import { desktopComponents } from '../../contract/desktop-components.ts'
import { editorOf } from '../component-editor.ts'
import { handle } from '../handler.ts'

export const save = handle(desktopComponents.actions.save, async ({ params, caller, domain }) => ({
  version: await domain.desktop.components.save(editorOf(caller), params),
  component_id: params.component_id,
}))
