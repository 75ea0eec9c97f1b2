import { rows } from '../../contract/rows.ts'
import { handle } from '../handle.ts'
import { longList } from '../long-list.ts'

export const delta = handle(rows.actions.delta, async ({ params, caller, domain, signal }) => {
  const page = await domain.sync.changesSince(caller.user.id, params, signal)
  return { ...page, changes: await longList(page.changes), ...domain.instance.identity }
})
