import { syncData } from '../../contract/sync-data.ts'
import { handle } from '../handler.ts'
import { serializeLong } from '../json-serializer.ts'

export const delta = handle(syncData.actions.delta, async ({ params, caller, domain, signal }) => {
  const page = await domain.sync.changesSince(caller.user.id, params, signal)
  return { ...page, changes: await serializeLong(page.changes), ...domain.instance.identity }
})
