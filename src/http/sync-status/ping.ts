import { syncStatus } from '../../contract/sync-status.ts'
import { handle } from '../handler.ts'

export const ping = handle(syncStatus.actions.ping, () =>
  Promise.resolve({ status: 'ok' as const, timestamp: new Date().toISOString() }),
)
