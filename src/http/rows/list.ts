import { rows } from '../../contract/rows.ts'
import { handle } from '../handler.ts'

export const list = handle(rows.actions.list, async ({ params, caller, domain }) => ({
  ...(await domain.sync.everything(
    caller.user.id,
    params.tables === undefined ? undefined : [...new Set(params.tables.split(','))],
  )),
  ...domain.instance.identity,
}))
