import { assistant } from '../../contract/assistant.ts'
import { handle } from '../handler.ts'

export const changes = handle(assistant.actions.changes, ({ params, caller, domain }) =>
  domain.assistant.changes.list(caller.user.id, params),
)
