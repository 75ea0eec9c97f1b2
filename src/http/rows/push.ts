import { rows } from '../../contract/rows.ts'
import { handle } from '../handler.ts'

export const push = handle(rows.actions.push, async ({ params, caller, domain }) =>
  domain.sync.push(caller.user.id, params, undefined),
)
