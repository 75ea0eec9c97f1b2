import { assistant } from '../../contract/assistant.ts'
import { editorOf } from '../component-editor.ts'
import { handle } from '../handler.ts'

export const undo = handle(assistant.actions.undo, ({ params, caller, domain }) =>
  domain.assistant.changes.undo(editorOf(caller), params.change_set_id),
)
