import { first, prepared, preparedRows, type Reader, type Writer } from './database.ts'
import type { IdempotencyKeyRow, PushedOperationRow } from './tables.ts'

// What was answered to a pushed operation or a keyed request, kept so that a repetition gets the same answer.

const rememberQuery = preparedRows<{ [column in keyof PushedOperationRow]: PushedOperationRow[column] }, never>(
  ({ q, rows }) =>
    q.insertInto('pushed_operations').values(
      rows.map((p) => ({
        user_id: p.user_id,
        op_id: p.op_id,
        payload_hash: p.payload_hash,
        result: p.result,
        created_at: p.created_at,
      })),
    ),
)

const keyQuery = prepared<{ user: number; key: string }, IdempotencyKeyRow>(({ q, p }) =>
  q.selectFrom('idempotency_keys').selectAll().where('user_id', '=', p.user).where('key', '=', p.key),
)

/** What is remembered of these operations. */
export const pushedOperations = (on: Reader, user: number, ops: readonly string[]): Promise<PushedOperationRow[]> =>
  on.q.selectFrom('pushed_operations').selectAll().where('user_id', '=', user).where('op_id', 'in', ops).execute()

export async function rememberOperations(tx: Writer, rows: readonly PushedOperationRow[]): Promise<void> {
  await rememberQuery(
    tx,
    rows.map((row) => ({ ...row })),
  )
}

export const keyedAnswer = (on: Reader, user: number, key: string) => first(keyQuery(on, { user, key }))

export const rememberAnswer = (tx: Writer, row: IdempotencyKeyRow) =>
  tx.q.insertInto('idempotency_keys').values(row).execute()

/** Forgets answers older than `before`. */
export async function forgetPushes(tx: Writer, before: number): Promise<void> {
  await tx.q.deleteFrom('pushed_operations').where('created_at', '<', before).execute()
  await tx.q.deleteFrom('idempotency_keys').where('created_at', '<', before).execute()
}
