import { sql } from 'kysely'
import { sizeOf } from '../engine/data-usage.ts'
import { first, prepared, preparedRows, type Reader, type Writer } from '../engine/database.ts'
import { deleteOldest } from '../engine/slices.ts'
import type { IdempotencyKeyRow, PushedOperationRow } from '../engine/tables.ts'

// Responses to pushed operations and keyed requests, stored so that a repetition gets the same response.

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

/** Stored responses to these operations. */
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

export const forgetOperations = deleteOldest({
  table: 'pushed_operations',
  age: 'created_at',
  key: ['user_id', 'op_id'],
})

/** Deletes old responses to keyed requests. */
export const forgetKeys = deleteOldest({ table: 'idempotency_keys', age: 'created_at', key: ['user_id', 'key'] })

const remembered = ['pushed_operations', 'idempotency_keys'] as const
const texts = {
  pushed_operations: ['op_id', 'payload_hash', 'result'],
  idempotency_keys: ['key', 'payload_hash', 'answer'],
} as const

/** Accounts with more than `max` stored bytes, and the time up to which to delete them. */
export async function excessPushes(on: Reader, max: number): Promise<{ user: number; upTo: number }[]> {
  const sizes = remembered.map(
    (table) => sql`select user_id, created_at, ${sizeOf(texts[table])} as size from ${sql.table(table)}
      where user_id in (select user_id from data_usage where kind = 'pushes' and bytes > ${max})`,
  )
  const { rows } = await sql<{ user: number; upTo: number }>`select user_id as "user", max(created_at) as "upTo" from (
      select user_id, created_at, sum(size) over (partition by user_id order by created_at desc) as total
      from (${sql.join(sizes, sql` union all `)}) each_one
    ) summed where total > ${max} group by user_id`.execute(on.q)
  return rows
}

/** Deletes stored responses of an account up to a time, at most `limit` of each kind. Returns the larger number. */
export async function forgetPushesUpTo(
  tx: Writer,
  { user, upTo }: { user: number; upTo: number },
  limit: number,
): Promise<number> {
  const counts: number[] = []
  for (const table of remembered) {
    const key = sql.ref(texts[table][0])
    const { rows } = await sql`delete from ${sql.table(table)} where user_id = ${user} and ${key} in (
      select ${key} from ${sql.table(table)} where user_id = ${user} and created_at <= ${upTo} limit ${limit}
    ) returning 1 as gone`.execute(tx.q)
    counts.push(rows.length)
  }
  return Math.max(...counts)
}
