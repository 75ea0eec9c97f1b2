import { setTimeout as pause } from 'node:timers/promises'
import { DAY, MINUTE } from '../../base/clock.ts'
import { Busy } from '../../base/errors.ts'
import { first, prepared, type Reader, type Writer } from '../engine/database.ts'

// How removing a content at once and publishing it at the same moment agree, by the order of transactions alone.
//
// Whoever removes notes that in the transaction that deletes the row, removes the blob, and notes then that it is over.
// Whoever publishes looks first which note is the newest, waits while a removal of this very content is not over, publishes,
// and looks again in the transaction that points to it: a note that is newer means that the blob may be gone.

/** Notes that are kept: a content that waits for its row while more are made has to be sent again. */
const KEPT = 10_000

/** A removal that takes longer belongs to a process that is gone; what it left is the collector's. */
const ABANDONED = 10 * MINUTE

/** How long whoever publishes waits for a removal, ms, and how often it looks. */
const WAIT = 30_000
const LOOK = 20

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

/** The newest removal, when none of this content is under way. Throws `Busy` when one does not end. */
export async function newestRemoval(on: Reader, sha256: string): Promise<number> {
  for (let waited = 0; ; waited += LOOK) {
    const head = await headOf(on)
    const newest = await first(newestQuery(on, { sha256 }))
    if (!newest || newest.is_over === 1 || newest.at < Date.now() - ABANDONED) return head
    if (waited >= WAIT) throw new Busy('This content is just being removed. Try again in some minutes.')
    await pause(LOOK)
  }
}

/** Throws `Busy` when a content may have been removed since `seen` was the newest removal. */
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

/** Notes that removals are over, and forgets the oldest. */
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
