import type { Clock } from '../../base/clock.ts'
import { feedTables } from '../../contract/tables.ts'
import { headsOf } from '../../storage/feed/changes.ts'
import type { Database, Reader, Writer } from '../../storage/engine/database.ts'
import {
  changesAt,
  overrunHeads,
  raiseHead,
  sharedPositions,
  unexpectedChanges,
  recordAgain,
  rowsMissingFromFeed,
  type FeedEntry,
} from '../../storage/instance/feed-check.ts'
import type { Audit } from './audit.ts'
import type { IntegrityProblemId } from './integrity-problems.ts'
import type { Usage } from './usage.ts'

interface Parts {
  database: Database
  clock: Clock
  audit: Audit
  usage: Usage
}

/** Repairs per transaction, so that other writers do not wait long. */
const BATCH_SIZE = 500

/** Repairs problems without data loss. Each transaction checks again and writes an audit entry; a repair can be resumed. */
export function makeRepair({ database, clock, audit, usage }: Parts) {
  /** Finds and repairs until nothing is left, or nothing more can be repaired. */
  async function each<T>(
    id: IntegrityProblemId,
    find: (on: Reader) => Promise<T[]>,
    repairAll: (tx: Writer, found: T[]) => Promise<number>,
  ): Promise<void> {
    for (;;) {
      const repaired = await database.write('instance', async (tx) => {
        const found = await find(tx)
        const count = found.length === 0 ? 0 : await repairAll(tx, found)
        if (count > 0) await audit.record(tx, { kind: 'storage.repaired', detail: { problem: id, count } })
        return count
      })
      if (repaired === 0) return
    }
  }

  /** Records changes again, except for accounts without a feed. */
  async function recordChanges(tx: Writer, entries: FeedEntry[], deleted: boolean): Promise<number> {
    const users = [...new Set(entries.map(({ user_id }) => user_id))]
    const known = new Set((await headsOf(tx, users)).map(({ id }) => id))
    const possible = entries.filter(({ user_id }) => known.has(user_id))
    await recordAgain(
      tx,
      possible.map((entry) => ({ ...entry, deleted })),
      clock.now(),
    )
    return possible.length
  }

  async function separatePositions(tx: Writer, positions: { user_id: number; seq: number }[]): Promise<number> {
    for (const position of positions) {
      const [, ...others] = await changesAt(tx, position)
      await recordAgain(
        tx,
        others.map((change) => ({ ...change, deleted: change.deleted === 1 })),
        clock.now(),
      )
    }
    return positions.length
  }

  return async function repair(present: ReadonlySet<IntegrityProblemId>): Promise<void> {
    // The head first: changes recorded again get later positions.
    if (present.has('feed-beyond-head'))
      await each('feed-beyond-head', overrunHeads, async (tx, heads) => {
        for (const head of heads) await raiseHead(tx, head)
        return heads.length
      })
    for (const table of feedTables) {
      if (present.has('feed-row-missing'))
        await each(
          'feed-row-missing',
          (on) => rowsMissingFromFeed(on, table, BATCH_SIZE),
          (tx, entries) => recordChanges(tx, entries, false),
        )
      if (present.has('feed-row-stray'))
        await each(
          'feed-row-stray',
          (on) => unexpectedChanges(on, table, BATCH_SIZE),
          (tx, entries) => recordChanges(tx, entries, true),
        )
    }
    if (present.has('feed-position-shared'))
      await each('feed-position-shared', (on) => sharedPositions(on, BATCH_SIZE), separatePositions)
    if (present.has('quota-drift')) await usage.recount()
  }
}
