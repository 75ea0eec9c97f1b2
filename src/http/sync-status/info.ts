import { syncStatus } from '../../contract/sync-status.ts'
import { feedTables, SCHEMA_VERSION } from '../../contract/tables.ts'
import { handle } from '../handle.ts'
import { flags } from './features.ts'

export const info = handle(syncStatus.actions.info, async ({ caller, domain }) => ({
  app_version: domain.instance.version,
  sync_schema_version: SCHEMA_VERSION,
  maintenance_mode: (await domain.instance.settings.maintenance()) !== undefined,
  current_cursor: await domain.sync.head(caller.user.id),
  synced_tables: feedTables,
  feature_flags: flags,
  ...domain.instance.identity,
}))
