import { action, endpoint, none } from './define.ts'
import { Count, Cursor, Epoch, Ok, ServerId, Timestamp } from './shapes.ts'
import { Type } from './schema.ts'

const Feature = Type.Unknown({ description: '`true`, or the limits of the feature.' })

export const syncStatus = endpoint('/api/sync/status.php', {
  ping: action({
    summary: 'Whether the service answers.',
    method: 'GET',
    auth: 'anyone',
    limit: 'none',
    openIn: ['setup', 'maintenance'],
    params: none,
    result: Type.Object({ ok: Ok, status: Type.Literal('ok'), timestamp: Timestamp }),
    errors: [],
    example: {},
  }),
  info: action({
    summary: 'Version, state and tables of the server.',
    method: 'GET',
    auth: { device: true },
    limit: 'none',
    openIn: ['maintenance'],
    params: none,
    result: Type.Object({
      ok: Ok,
      app_version: Type.String(),
      sync_schema_version: Count,
      maintenance_mode: Type.Boolean({ description: 'Whether only administrators can use the service.' }),
      read_only: Type.Boolean({ description: 'Whether only administrators can change anything.' }),
      current_cursor: Cursor,
      synced_tables: Type.Array(Type.String()),
      feature_flags: Type.Record(Type.String(), Type.Boolean()),
      epoch: Epoch,
      server_id: ServerId,
    }),
    errors: [],
    example: {},
  }),
  capabilities: action({
    summary: 'Extensions of this server, its limits, and retention times.',
    method: 'GET',
    auth: { device: true },
    limit: 'none',
    openIn: ['maintenance'],
    params: none,
    result: Type.Object({
      ok: Ok,
      server_id: ServerId,
      epoch: Epoch,
      features: Type.Record(Type.String(), Feature),
      limits: Type.Record(Type.String(), Type.Object({ max: Count, per: Count }), {
        description: '`max` requests per `per` seconds; empty if limits are off.',
      }),
      retention: Type.Object({ tombstones_days: Count, versions_days: Count }),
    }),
    errors: [],
    example: {},
  }),
})
