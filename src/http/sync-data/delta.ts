import { syncData } from '../../contract/sync-data.ts'
import { handle } from '../handle.ts'

export const delta = handle(syncData.actions.delta, async ({ params, caller, domain, signal }) => ({
  ...(await domain.sync.changesSince(caller.user.id, params, signal)),
  ...domain.instance.identity,
}))
