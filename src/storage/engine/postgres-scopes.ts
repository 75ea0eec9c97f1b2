import { crc32 } from 'node:zlib'
import type { WriteScope } from './database.ts'

// Locks of write transactions. Units for the instance exclude all others by an advisory lock, which the rest
// shares. An account is locked by its row in `counters`, which orders its feed anyway, a room by its own row, what accounts share by a
// row of `write_locks`. All locks are taken when a transaction begins, in one order, so that transactions do not wait for
// each other in a circle.

/** The advisory lock of the writers of each database. */
const WRITERS_LOCK = 7_823_001
/** Rows of `write_locks` at most. Keys that share one wait for each other without need. */
const LOCK_ROWS = 4_096

const listOf = (ids: ReadonlySet<number>): string => [...ids].map(Number).join(', ')

/** Everything that units write; undefined for the instance. */
function union(scopes: readonly WriteScope[]) {
  const accounts = new Set<number>()
  const rooms = new Set<number>()
  const memberFeeds = new Set<number>()
  const locks = new Set<number>()
  for (const scope of scopes) {
    if (scope === 'instance') return undefined
    for (const account of scope.accounts ?? []) accounts.add(account)
    for (const room of scope.rooms ?? []) rooms.add(room)
    for (const room of scope.memberFeeds ?? []) memberFeeds.add(room)
    for (const key of scope.keys ?? []) locks.add(crc32(key) % LOCK_ROWS)
  }
  return { accounts, rooms, memberFeeds, locks }
}

/** Waits in a transaction of its own until no unit for the instance runs, at most `patience` ms. */
export const sharedLockStatements = (patience: number): string =>
  [
    'begin',
    `set local lock_timeout = ${patience}`,
    `select pg_advisory_xact_lock_shared(${WRITERS_LOCK})`,
    'commit',
  ].join(';')

/** Statements that begin a transaction and wait until nobody else writes within the scopes. */
export function beginStatements(scopes: readonly WriteScope[]): string[] {
  // Set whatever the default is: after the wait for the locks, each statement must see what was committed before it.
  const begin = 'begin isolation level read committed'
  const scope = union(scopes)
  if (!scope) return [begin, `select pg_advisory_xact_lock(${WRITERS_LOCK})`]
  const statements = [begin, `select pg_advisory_xact_lock_shared(${WRITERS_LOCK})`]
  const [accounts, rooms, feeds] = [listOf(scope.accounts), listOf(scope.rooms), listOf(scope.memberFeeds)]
  if (rooms !== '') statements.push(`select 1 from rooms where id in (${rooms}) order by id for no key update`)
  const owners: string[] = []
  if (accounts !== '') owners.push(`user_id in (${accounts})`)
  // Of large rooms no feed is written; whether one is large is decided under the lock of its row.
  if (feeds !== '')
    owners.push(
      `user_id in (select m.user_id from room_members m join rooms r on r.id = m.room_id
        where r.id in (${feeds}) and r.feed_stamp is null)`,
    )
  if (owners.length > 0)
    statements.push(`select 1 from counters where ${owners.join(' or ')} order by user_id for no key update`)
  const locks = listOf(scope.locks)
  if (locks !== '')
    statements.push(
      `insert into write_locks select key from unnest(array[${locks}]) key order by key on conflict do nothing`,
      `select 1 from write_locks where key in (${locks}) order by key for no key update`,
    )
  return statements
}
