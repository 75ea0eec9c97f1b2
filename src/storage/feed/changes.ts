import { sql } from 'kysely'
import { first, prepared, preparedRows, type Reader, type Writer } from '../engine/database.ts'
import { SLICE } from '../engine/slices.ts'
import { nextTurn } from '../engine/event-loop.ts'

// The change feed: one row per (account, table, row) with its newest change, which each change moves to the end.
// Positions come from the account's counter row, which stays locked until the transaction ends: commit order is feed
// order.

interface Head {
  seq: number
  oldest: number
  used_bytes: number
}

const advanceQuery = prepared<{ user: number; count: number; bytes: number }, Head>(({ q, p }) =>
  q
    .updateTable('counters')
    .set({ seq: sql`seq + ${p.count}`, used_bytes: sql`used_bytes + ${p.bytes}` })
    .where('user_id', '=', p.user)
    .returning(['seq', 'oldest', 'used_bytes']),
)

const recordQuery = preparedRows<
  { user: number; table: string; row: number; seq: number; deleted: number; now: number },
  never
>(({ q, rows }) =>
  q
    .insertInto('changes')
    .values(
      rows.map((p) => ({
        user_id: p.user,
        tbl: p.table,
        row_id: p.row,
        seq: p.seq,
        born: p.seq,
        deleted: p.deleted,
        changed_at: p.now,
      })),
    )
    .onConflict((conflict) =>
      conflict.columns(['user_id', 'tbl', 'row_id']).doUpdateSet({
        seq: sql`excluded.seq`,
        // A recreated row gets a new `born`: clients that saw its tombstone need the INSERT.
        born: sql`case when changes.deleted = 1 and excluded.deleted = 0 then excluded.seq else changes.born end`,
        deleted: sql`excluded.deleted`,
        changed_at: sql`excluded.changed_at`,
      }),
    ),
)

const headQuery = prepared<{ user: number }, Head>(({ q, p }) =>
  q.selectFrom('counters').select(['seq', 'oldest', 'used_bytes']).where('user_id', '=', p.user),
)

export interface Change {
  table: string
  row: number
  deleted: boolean
}

/** Advances the account's head by `count` positions and its usage by `bytes`; the last position is the new head. */
export async function advance(tx: Writer, user: number, count: number, bytes = 0): Promise<Head> {
  const head = await first(advanceQuery(tx, { user, count, bytes }))
  if (!head) throw new Error(`Account ${user} has no counter row.`)
  if (count > 0) tx.notify('feed', user, head.seq)
  return head
}

/** The entries of changes up to a head. Of a row that changed more than once only its last change remains. */
function entriesOf(user: number, head: number, now: number, changes: readonly Change[]) {
  const start = head - changes.length
  const latest = new Map(changes.map((change, index) => [`${change.table} ${change.row}`, index]))
  return [...latest.values()].map((index) => {
    const { table, row, deleted } = changes[index]!
    return { user, table, row, seq: start + index + 1, deleted: deleted ? 1 : 0, now }
  })
}

/** Writes changes up to the reserved `head`. */
export async function recordAll(
  tx: Writer,
  user: number,
  head: number,
  now: number,
  changes: readonly Change[],
): Promise<void> {
  await recordQuery(tx, entriesOf(user, head, now, changes))
}

/** Appends changes to the feeds of several accounts, in a few statements; skips accounts that are gone. */
export async function appendToFeeds(
  tx: Writer,
  changes: ReadonlyMap<number, readonly Change[]>,
  now: number,
): Promise<void> {
  const byCount = new Map<number, number[]>()
  for (const [user, { length }] of changes) {
    if (length > 0) byCount.set(length, [...(byCount.get(length) ?? []), user])
  }
  const entries: ReturnType<typeof entriesOf> = []
  for (const [count, users] of byCount) {
    const query = tx.q
      .updateTable('counters')
      .set({ seq: sql`seq + ${count}` })
      .where('user_id', 'in', users)
    for (const { user_id, seq } of await query.returning(['user_id', 'seq']).execute()) {
      tx.notify('feed', user_id, seq)
      entries.push(...entriesOf(user_id, seq, now, changes.get(user_id)!))
    }
  }
  await recordQuery(tx, entries)
}

export const headOf = (on: Reader, user: number): Promise<Head | undefined> => first(headQuery(on, { user }))

/** Heads of several accounts, for long polls. */
export const headsOf = (on: Reader, users: number[]): Promise<{ id: number; head: number }[]> =>
  on.q.selectFrom('counters').select(['user_id as id', 'seq as head']).where('user_id', 'in', users).execute()

/** The position of the newest change of a table; 0 if there is none. */
export async function newestOf(on: Reader, user: number, table: string): Promise<number> {
  const row = await first(newestQuery(on, { user, table }))
  return row?.seq ?? 0
}

const newestQuery = prepared<{ user: number; table: string }, { seq: number | null }>(({ q, p }) =>
  q
    .selectFrom('changes')
    .select(({ fn }) => fn.max('seq').as('seq'))
    .where('user_id', '=', p.user)
    .where('tbl', '=', p.table),
)

/** Deletes up to `limit` old tombstones, and raises the oldest valid cursor. Returns their number. */
export async function compact(tx: Writer, before: number, limit = SLICE): Promise<number> {
  const { rows: gone } = await sql<{ user_id: number; seq: number }>`
    delete from changes where (user_id, tbl, row_id) in (
      select user_id, tbl, row_id from changes where deleted = 1 and changed_at < ${before} order by changed_at limit ${limit}
    ) returning user_id, seq`.execute(tx.q)
  await raiseOldest(tx, gone)
  return gone.length
}

/** Raises the oldest valid cursors past deleted tombstones. */
async function raiseOldest(tx: Writer, gone: readonly { user_id: number; seq: number }[]): Promise<void> {
  const newest = new Map<number, number>()
  for (const { user_id, seq } of gone) newest.set(user_id, Math.max(newest.get(user_id) ?? 0, seq))
  for (const [user, seq] of newest) {
    await tx.q
      .updateTable('counters')
      .set({ oldest: seq })
      .where('user_id', '=', user)
      .where('oldest', '<', seq)
      .execute()
  }
}

/** Changes counted by one statement, before others have their turn. */
const WINDOW = 5_000

/** The position up to which to delete the tombstones of an account, of which it keeps `max`; undefined if it has fewer. */
async function excessOf(on: Reader, user: number, max: number): Promise<number | undefined> {
  let kept = 0
  for (let before = Number.MAX_SAFE_INTEGER; ;) {
    const { rows } = await sql<{ dead: number; first: number | null }>`select coalesce(sum(deleted), 0) as dead,
      min(seq) as first from (
        select seq, deleted from changes where user_id = ${user} and seq < ${before} order by seq desc limit ${WINDOW}
      ) examined`.execute(on.q)
    const { dead, first } = rows[0]!
    if (first === null) return undefined
    if (kept + Number(dead) > max) {
      const newest = on.q
        .selectFrom('changes')
        .select('seq')
        .where('user_id', '=', user)
        .where('deleted', '=', sql.lit(1))
      const excess = newest.where('seq', '<', before).orderBy('seq', 'desc').limit(1)
      return (await excess.offset(max - kept).executeTakeFirstOrThrow()).seq
    }
    kept += Number(dead)
    before = first
    await nextTurn()
  }
}

/** Accounts with more than `max` tombstones, and the position up to which to delete them. */
export async function excessTombstones(on: Reader, max: number): Promise<{ user: number; upTo: number }[]> {
  const accounts = await on.q.selectFrom('counters').select('user_id').where('seq', '>', max).execute()
  const found: { user: number; upTo: number }[] = []
  for (const { user_id: user } of accounts) {
    const upTo = await excessOf(on, user, max)
    if (upTo !== undefined) found.push({ user, upTo })
  }
  return found
}

/** Deletes the oldest `limit` tombstones of an account up to a position. Returns their number. */
export async function compactUpTo(
  tx: Writer,
  { user, upTo }: { user: number; upTo: number },
  limit = SLICE,
): Promise<number> {
  const { rows: gone } = await sql<{ user_id: number; seq: number }>`
    delete from changes where (user_id, tbl, row_id) in (
      select user_id, tbl, row_id from changes where user_id = ${user} and deleted = 1 and seq <= ${upTo}
      order by seq limit ${limit}
    ) returning user_id, seq`.execute(tx.q)
  await raiseOldest(tx, gone)
  return gone.length
}
