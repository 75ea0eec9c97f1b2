import { setTimeout as pause } from 'node:timers/promises'
import { DAY, MINUTE } from '../../base/clock.ts'
import { Busy } from '../../base/errors.ts'
import { first, prepared, type Reader, type Writer } from '../engine/database.ts'

// Serializes the immediate removal of a content with its publishing, by the order of transactions alone.
//
// A removal is recorded in the transaction that deletes the row, then removes the blob, and then records its end.
// Publishing reads the newest removal, waits while one of this content is in progress, publishes, and reads again in the
// transaction that references the content: if there is a newer removal of it, the blob may be gone.

/** Records kept: a content that waits longer than this many removals for its row has to be sent again. */
const KEPT = 10_000

/** A removal that takes longer belongs to a dead process; the collector finishes it. */
const ABANDONED = 10 * MINUTE

/** How long publishing waits for a removal, and how often it checks; ms. */
const WAIT = 30_000
const POLL_MS = 20

const headQuery = prepared<Record<never, never>, { head: number | null }>(({ q }) =>
  q.selectFrom('content_removals').select(({ fn }) => fn.max('id').as('head')),
)

const newestQuery = prepared<{ sha256: string }, { id: number; is_over: number; at: number }>(({ q, p }) =>
  q
    .selectFrom('content_removals')
    .select(['id', 'is_over', 'at'])
    .where('sha256', '=', p.sha256)
    .orderBy('id', 'desc')
    .limit(1),
)

const headOf = async (on: Reader): Promise<number> => Number((await first(headQuery(on, {})))?.head ?? 0)

/** The newest removal, once none of this content is in progress. Throws `Busy` if one does not end. */
export async function newestRemoval(on: Reader, sha256: string): Promise<number> {
  for (let waited = 0; ; waited += POLL_MS) {
    const head = await headOf(on)
    const newest = await first(newestQuery(on, { sha256 }))
    if (!newest || newest.is_over === 1 || newest.at < Date.now() - ABANDONED) return head
    if (waited >= WAIT) throw new Busy('This content is being removed. Try again in a few minutes.')
    await pause(POLL_MS)
  }
}

/** Throws `Busy` if a content may have been removed after the removal `seen`. */
export async function assertNotRemoved(tx: Writer, sha256: string, seen: number): Promise<void> {
  const newest = await first(newestQuery(tx, { sha256 }))
  if ((newest && newest.id > seen) || (await headOf(tx)) - seen > KEPT / 2)
    throw new Busy('This content was removed while it was stored. Send it again.')
}

const note = async (tx: Writer, sha256s: readonly string[], isOver: 0 | 1): Promise<void> => {
  const at = Date.now()
  if (sha256s.length === 0) return
  await tx.q
    .insertInto('content_removals')
    .values(sha256s.map((sha256) => ({ sha256, is_over: isOver, at })))
    .execute()
}

export const noteRemoval = (tx: Writer, sha256s: readonly string[]) => note(tx, sha256s, 0)

/** Records that removals are complete, and deletes the oldest records. */
export async function noteRemoved(tx: Writer, sha256s: readonly string[]): Promise<void> {
  if (sha256s.length === 0) return
  await tx.q.deleteFrom('content_removals').where('sha256', 'in', sha256s).execute()
  await note(tx, sha256s, 1)
  const oldest = (await headOf(tx)) - KEPT
  await tx.q
    .deleteFrom('content_removals')
    .where('id', '<=', oldest)
    .where(({ or, eb }) => or([eb('is_over', '=', 1), eb('at', '<', Date.now() - DAY)]))
    .execute()
}
