import { first, prepared, type Reader, type Writer } from '../engine/database.ts'
import type { LoginThrottleRow } from '../engine/tables.ts'

// Failed logins by a keyed hash of the user name. Stored, so that they survive restarts and count for every process.

export interface Throttle {
  /** Times of the counted failures, oldest first. */
  failedAt: number[]
  lockedUntil: number
}

const throttleQuery = prepared<{ hash: string }, LoginThrottleRow>(({ q, p }) =>
  q.selectFrom('login_throttles').selectAll().where('name_hash', '=', p.hash),
)

/** Times in ms since 1970; an unknown name has no failures. */
export async function throttleOf(on: Reader, hash: string): Promise<Throttle> {
  const row = await first(throttleQuery(on, { hash }))
  return { failedAt: row ? (JSON.parse(row.failed_at) as number[]) : [], lockedUntil: row?.locked_until ?? 0 }
}

/** Replaces the record; `expiresAt` in ms is when the sweep may remove it. */
export async function storeThrottle(tx: Writer, hash: string, throttle: Throttle, expiresAt: number): Promise<void> {
  const values = {
    failed_at: JSON.stringify(throttle.failedAt),
    locked_until: throttle.lockedUntil,
    expires_at: expiresAt,
  }
  await tx.q
    .insertInto('login_throttles')
    .values({ name_hash: hash, ...values })
    .onConflict((conflict) => conflict.column('name_hash').doUpdateSet(values))
    .execute()
}

const clearQuery = prepared<{ hash: string }, unknown>(({ q, p }) =>
  q.deleteFrom('login_throttles').where('name_hash', '=', p.hash),
)

export const clearThrottle = (tx: Writer, hash: string) => clearQuery(tx, { hash })

/** Hashes of locked names, with the end of each lock. */
export async function locks(on: Reader, now: number): Promise<Map<string, number>> {
  const rows = await on.q
    .selectFrom('login_throttles')
    .select(['name_hash', 'locked_until'])
    .where('locked_until', '>', now)
    .execute()
  return new Map(rows.map(({ name_hash, locked_until }) => [name_hash, locked_until]))
}

/** Deletes expired rows, and beyond `max` those that expire first; locks go last. */
export async function pruneThrottles(tx: Writer, now: number, max: number): Promise<void> {
  await tx.q.deleteFrom('login_throttles').where('expires_at', '<=', now).execute()
  const { count } = await tx.q
    .selectFrom('login_throttles')
    .select(({ fn }) => fn.countAll().as('count'))
    .executeTakeFirstOrThrow()
  const excess = Number(count) - max
  if (excess <= 0) return
  const oldest = tx.q
    .selectFrom('login_throttles')
    .select('name_hash')
    .orderBy('locked_until')
    .orderBy('expires_at')
    .limit(excess)
  await tx.q.deleteFrom('login_throttles').where('name_hash', 'in', oldest).execute()
}
