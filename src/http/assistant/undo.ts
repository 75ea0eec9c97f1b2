import { assistant } from '../../contract/assistant.ts'
import { handle } from '../handle.ts'

export const undo = handle(assistant.actions.undo, ({ params, caller, domain }) =>
  domain.assistant.changes.undo(caller.user.id, params.change_set_id),
)
