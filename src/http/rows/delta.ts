import { rows } from '../../contract/rows.ts'
import { handle } from '../handle.ts'

export const delta = handle(rows.actions.delta, async ({ params, caller, domain, signal }) => ({
  ...(await domain.sync.changesSince(caller.user.id, params, signal)),
  ...domain.instance.identity,
}))
