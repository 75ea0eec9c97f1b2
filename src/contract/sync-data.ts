import { action, endpoint, none } from './define.ts'
import { DELTA_LIMIT, PUSH_BODY, PUSH_VALUES } from './limits.ts'
import { Count, Cursor, Epoch, Id, Limit, Ok, ServerId, Wait } from './shapes.ts'
import { Type } from './schema.ts'

const Row = Type.Object({ id: Id }, { additionalProperties: true })
const Verb = Type.Union([Type.Literal('INSERT'), Type.Literal('UPDATE'), Type.Literal('DELETE')])
const Change = Type.Object({
  table: Type.String(),
  operation: {
    ...Verb,
    description:
      '`INSERT`: created after the cursor of the request. `INSERT` and `UPDATE` carry the whole row: store it under its ' +
      'id either way, as a row that changed while you read earlier pages arrives only as an `UPDATE`.',
  },
  data: { ...Row, description: 'The whole row; only `id` for `DELETE`.' },
  cursor: Cursor,
})

interface PushOperation {
  table?: unknown
  operation?: unknown
  data?: unknown
  op_id?: unknown
  base_version?: unknown
}

// Operations are validated one by one, so that an invalid one does not fail the others; this type documents their form.
export const Operation = Type.Unsafe<PushOperation>({
  properties: {
    table: { description: 'A synchronised table.' },
    operation: { description: '`INSERT`, `UPDATE` or `DELETE`.' },
    data: { description: 'Columns; with `id` for UPDATE and DELETE.' },
    op_id: { description: 'UUID. Repeating it returns the stored result and writes nothing.' },
    base_version: { description: 'Version that the change is based on. If it is not the current one: `conflict`.' },
  },
})

const Outcome = Type.Object({
  index: Count,
  ok: Type.Boolean(),
  status: Type.Union([
    Type.Literal('applied'),
    Type.Literal('duplicate'),
    Type.Literal('conflict'),
    Type.Literal('error'),
  ]),
  table: Type.Union([Type.String(), Type.Null()]),
  operation: Type.Union([Type.String(), Type.Null()]),
  id: Type.Union([Id, Type.Null()]),
  version: Type.Union([Count, Type.Null()]),
  op_id: Type.Optional(Type.String()),
  error: Type.Optional(Type.String()),
  code: Type.Optional(Type.String()),
  current: Type.Optional(Row),
})

/** All rows of some tables, and the position of the feed. */
export const Dump = Type.Object({
  ok: Ok,
  data: Type.Record(Type.String(), Type.Array(Row)),
  cursor: Cursor,
  schema_version: Count,
  epoch: Epoch,
  server_id: ServerId,
})

/** The position in the feed, the number of changes, and how long to wait for one. */
const Since = Type.Object({
  cursor: Cursor,
  limit: Type.Optional(Limit(DELTA_LIMIT.default, DELTA_LIMIT.max)),
  wait: Type.Optional(Wait),
  epoch: Type.Optional(Epoch),
})

/** Changes of the feed, oldest first. */
const Page = Type.Object({
  ok: Ok,
  changes: Type.Array(Change),
  cursor: Cursor,
  has_more: Type.Boolean(),
  count: Count,
  epoch: Epoch,
  server_id: ServerId,
})

const Pushed = Type.Object({
  ok: Ok,
  results: Type.Array(Outcome),
  cursor: Cursor,
  contiguous: Type.Boolean(),
})

/** Pulling and pushing rows, the same for devices and browser sessions. */
export const deltaAction = {
  summary: 'Changes since a cursor, oldest first. A page ends after about 16 MiB of rows, even below its limit.',
  method: 'GET',
  params: Since,
  answers: 'large',
  result: Page,
  errors: ['cursor_expired', 'epoch_mismatch'],
  example: { cursor: 0 },
} as const
export const pushAction = {
  summary: 'Apply up to 100 changes. Each succeeds or fails independently.',
  method: 'POST',
  maxBody: PUSH_BODY,
  maxValues: PUSH_VALUES,
  answers: 'large',
  takesHeaders: ['idempotencyKey'],
  result: Pushed,
  errors: ['too_many_operations', 'conflict', 'idempotency_key_reuse'],
  example: {
    operations: [{ table: 'svc_notes', operation: 'INSERT', data: { title: 'Milk', content: 'two bottles' } }],
  },
} as const

export const syncData = endpoint('/api/sync/data.php', {
  initial_sync: action({
    summary: 'All rows of the caller, and the cursor for `delta`.',
    method: 'GET',
    auth: { device: true },
    limit: 'sync_initial_sync',
    cost: 20,
    params: none,
    answers: 'large',
    result: Dump,
    errors: [],
    example: {},
  }),
  delta: action({ ...deltaAction, auth: { device: true }, limit: 'sync_delta' }),
  push: action({
    ...pushAction,
    auth: { device: true },
    limit: 'sync_push',
    params: Type.Object({
      operations: Type.Array(Operation),
      cursor: Type.Optional(Cursor),
      device_id: Type.Optional(Type.String({ maxLength: 200 })),
    }),
  }),
})
