import { Type } from 'typebox'
import { action, endpoint } from './define.ts'
import { PUSH_BODY, PUSH_VALUES } from './limits.ts'
import { Cursor } from './shapes.ts'
import { Dump, Operation, Page, Pushed, Since } from './sync-data.ts'
import { feedTables } from './tables.ts'

const session = { session: true } as const

const ofFeed = feedTables.join('|')
const Tables = Type.String({
  pattern: `^(${ofFeed})(,(${ofFeed}))*$`,
  description: 'Names of feed tables, separated by commas; all tables if omitted.',
})

/** Rows for the desktop: the sync API for browser sessions. */
export const rows = endpoint('/api/rows.php', {
  list: action({
    summary: 'All rows of the caller in the given tables, and the cursor for `delta`.',
    method: 'GET',
    auth: session,
    limit: 'rows_list',
    cost: 10,
    params: Type.Object({ tables: Type.Optional(Tables) }),
    answers: 'large',
    result: Dump,
    errors: [],
    example: { tables: 'svc_notes' },
  }),
  delta: action({
    summary:
      'Changes since a cursor in all tables, oldest first. A page ends after about 16 MiB of rows, even below its limit.',
    method: 'GET',
    auth: session,
    limit: 'rows_delta',
    params: Since,
    answers: 'large',
    result: Page,
    errors: ['cursor_expired', 'epoch_mismatch'],
    example: { cursor: 0 },
  }),
  push: action({
    summary: 'Apply up to 100 changes. Each succeeds or fails independently.',
    method: 'POST',
    auth: session,
    limit: 'rows_push',
    params: Type.Object({ operations: Type.Array(Operation), cursor: Type.Optional(Cursor) }),
    maxBody: PUSH_BODY,
    maxValues: PUSH_VALUES,
    answers: 'large',
    takesHeaders: ['idempotencyKey'],
    result: Pushed,
    errors: ['too_many_operations', 'conflict', 'idempotency_key_reuse'],
    example: {
      operations: [{ table: 'svc_notes', operation: 'INSERT', data: { title: 'Milk', content: 'two bottles' } }],
    },
  }),
})
