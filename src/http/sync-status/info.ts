import { syncStatus } from '../../contract/sync-status.ts'
import { feedTables, SCHEMA_VERSION } from '../../contract/tables.ts'
import { handle } from '../handler.ts'
import { flags } from './features.ts'

export const info = handle(syncStatus.actions.info, async ({ caller, domain }) => {
  const maintenance = await domain.instance.settings.maintenance()
  return {
    app_version: domain.instance.version,
    sync_schema_version: SCHEMA_VERSION,
    maintenance_mode: maintenance?.read_only === false,
    read_only: maintenance?.read_only === true,
    current_cursor: await domain.sync.head(caller.user.id),
    synced_tables: feedTables,
    feature_flags: flags,
    ...domain.instance.identity,
  }
})
