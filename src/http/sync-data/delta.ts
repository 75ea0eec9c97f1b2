import { syncData } from '../../contract/sync-data.ts'
import { handle } from '../handle.ts'
import { longList } from '../long-list.ts'

export const delta = handle(syncData.actions.delta, async ({ params, caller, domain, signal }) => {
  const page = await domain.sync.changesSince(caller.user.id, params, signal)
  return { ...page, changes: await longList(page.changes), ...domain.instance.identity }
})
