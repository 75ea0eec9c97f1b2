import { syncData } from '../../contract/sync-data.ts'
import { handle } from '../handler.ts'

export const initialSync = handle(syncData.actions.initial_sync, async ({ caller, domain }) => ({
  ...(await domain.sync.everything(caller.user.id)),
  ...domain.instance.identity,
}))
