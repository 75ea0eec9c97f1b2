import { assistant } from '../../contract/assistant.ts'
import { authorOf } from '../author.ts'
import { handle } from '../handle.ts'

export const undo = handle(assistant.actions.undo, ({ params, caller, domain }) =>
  domain.assistant.changes.undo(authorOf(caller), params.change_set_id),
)
