import { sql } from 'kysely'
import { MINUTE } from '../../base/clock.ts'
import { sizeOf } from '../engine/data-usage.ts'
import { first, prepared, preparedRows, type Reader, type Writer } from '../engine/database.ts'
import { nextTurn } from '../engine/event-loop.ts'
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

/** The stored response to a request with this idempotency key. */
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

/** Rows summed by one statement, before others have their turn. */
const WINDOW = 5_000

/** Stored bytes of an account by time, rounded down to `unit` ms; only of the times that `counts`. */
async function bytesByTime(
  on: Reader,
  user: number,
  { unit, counts }: { unit: number; counts: (time: number) => boolean },
): Promise<[time: number, bytes: number][]> {
  const sums = new Map<number, number>()
  for (const table of remembered) {
    const key = sql.ref(texts[table][0])
    for (let after: string | undefined = ''; after !== undefined; await nextTurn()) {
      const { rows }: { rows: { last: string; time: number; bytes: number }[] } = await sql<{
        last: string
        time: number
        bytes: number
      }>`select max(name) as last, created_at - created_at % ${sql.lit(unit)} as time, sum(size) as bytes from (
          select ${key} as name, created_at, ${sizeOf(texts[table])} as size from ${sql.table(table)}
          where user_id = ${user} and ${key} > ${after} order by ${key} limit ${WINDOW}
        ) examined group by created_at - created_at % ${sql.lit(unit)}`.execute(on.q)
      for (const { time, bytes } of rows) if (counts(time)) sums.set(time, (sums.get(time) ?? 0) + Number(bytes))
      after = rows.map(({ last }) => last).reduce<string | undefined>(later, undefined)
    }
  }
  return [...sums].sort(([a], [b]) => b - a)
}

/** In the order of the database, by bytes. */
const later = (a: string | undefined, b: string): string =>
  a === undefined || Buffer.compare(Buffer.from(a), Buffer.from(b)) < 0 ? b : a

/** The time up to which to delete what an account has stored beyond `max` bytes; undefined if it has less. */
async function excessOf(on: Reader, user: number, max: number): Promise<number | undefined> {
  let total = 0
  for (const [minute, bytes] of await bytesByTime(on, user, { unit: MINUTE, counts: () => true })) {
    if (total + bytes > max) {
      const isIn = (time: number) => time >= minute && time < minute + MINUTE
      const times = await bytesByTime(on, user, { unit: 1, counts: isIn })
      return times.find(([, part]) => (total += part) > max)?.[0]
    }
    total += bytes
  }
  return undefined
}

/** Accounts with more than `max` stored bytes, and the time up to which to delete them. */
export async function excessPushes(on: Reader, max: number): Promise<{ user: number; upTo: number }[]> {
  const usage = on.q.selectFrom('data_usage').select('user_id').where('kind', '=', 'pushes').where('bytes', '>', max)
  const found: { user: number; upTo: number }[] = []
  for (const { user_id: user } of await usage.execute()) {
    const upTo = await excessOf(on, user, max)
    if (upTo !== undefined) found.push({ user, upTo })
  }
  return found
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
