import { action, endpoint } from './define.ts'
import { Cursor } from './shapes.ts'
import { deltaAction, Dump, Operation, pushAction } from './sync-data.ts'
import { feedTables } from './tables.ts'
import { Type } from './schema.ts'

const session = { session: true } as const

const ofFeed = feedTables.join('|')
const Tables = Type.String({
  pattern: `^(${ofFeed})(,(${ofFeed}))*$`,
  description: 'Names of feed tables, separated by commas; all tables if omitted.',
})

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
  delta: action({ ...deltaAction, auth: session, limit: 'rows_delta' }),
  push: action({
    ...pushAction,
    auth: session,
    limit: 'rows_push',
    params: Type.Object({ operations: Type.Array(Operation), cursor: Type.Optional(Cursor) }),
  }),
})
