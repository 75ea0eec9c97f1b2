import type { WriteScope } from './database.ts'

// Locks of write transactions. Units that write anything at all exclude all others by an advisory lock, which the rest
// shares. An account is locked by its row in `counters`, which orders its feed anyway, a room by its own row. All locks
// are taken when a transaction begins, in one order, so that transactions do not wait for each other in a circle.

/** The advisory lock of the writers of each database. */
const WRITERS_LOCK = 7_823_001

const listOf = (ids: readonly number[]): string => ids.map(Number).join(', ')

/** Statements that begin a transaction and wait until nobody else writes within the scope. */
export function beginStatements(scope: WriteScope | undefined): string[] {
  // Set whatever the default is: after the wait for the locks, each statement must see what was committed before it.
  const begin = 'begin isolation level read committed'
  if (!scope) return [begin, `select pg_advisory_xact_lock(${WRITERS_LOCK})`]
  const { accounts = [], rooms = [] } = scope
  const statements = [begin, `select pg_advisory_xact_lock_shared(${WRITERS_LOCK})`]
  const owners: string[] = []
  if (accounts.length > 0) owners.push(`user_id in (${listOf(accounts)})`)
  if (rooms.length > 0) {
    statements.push(`select 1 from rooms where id in (${listOf(rooms)}) order by id for no key update`)
    owners.push(`user_id in (select user_id from room_members where room_id in (${listOf(rooms)}))`)
  }
  if (owners.length > 0)
    statements.push(`select 1 from counters where ${owners.join(' or ')} order by user_id for no key update`)
  return statements
}
