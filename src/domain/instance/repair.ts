import type { Clock } from '../../base/clock.ts'
import { feedTables } from '../../contract/tables.ts'
import { headsOf } from '../../storage/feed/changes.ts'
import type { Database, Reader, Writer } from '../../storage/engine/database.ts'
import {
  changesAt,
  overrunHeads,
  raiseHead,
  sharedPositions,
  strayChanges,
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

/** Things put right in one transaction, so that nobody else waits long. */
const AT_ONCE = 500

/**
 * Repairs what can be repaired without losing anything: every transaction looks again at what it changes, and writes an
 * entry of the audit log. Interrupted, it is done as far as it came; again, it goes on.
 */
export function makeRepair({ database, clock, audit, usage }: Parts) {
  /** Looks and mends until nothing is left to do, or what is left cannot be done. */
  async function each<T>(
    id: IntegrityProblemId,
    find: (on: Reader) => Promise<T[]>,
    mend: (tx: Writer, found: T[]) => Promise<number>,
  ): Promise<void> {
    for (;;) {
      const repaired = await database.write(async (tx) => {
        const found = await find(tx)
        const count = found.length === 0 ? 0 : await mend(tx, found)
        if (count > 0) await audit.record(tx, { kind: 'storage.repaired', detail: { flaw: id, count } })
        return count
      })
      if (repaired === 0) return
    }
  }

  /** Tells of changes anew, apart from those of accounts that have no feed to tell them in. */
  async function tell(tx: Writer, spots: FeedEntry[], deleted: boolean): Promise<number> {
    const users = [...new Set(spots.map(({ user_id }) => user_id))]
    const known = new Set((await headsOf(tx, users)).map(({ id }) => id))
    const possible = spots.filter(({ user_id }) => known.has(user_id))
    await recordAgain(
      tx,
      possible.map((spot) => ({ ...spot, deleted })),
      clock.now(),
    )
    return possible.length
  }

  async function spread(tx: Writer, positions: { user_id: number; seq: number }[]): Promise<number> {
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
    // The head first: whatever is told anew gets a position beyond it.
    if (present.has('feed-beyond-head'))
      await each('feed-beyond-head', overrunHeads, async (tx, heads) => {
        for (const head of heads) await raiseHead(tx, head)
        return heads.length
      })
    for (const table of feedTables) {
      if (present.has('feed-row-missing'))
        await each(
          'feed-row-missing',
          (on) => rowsMissingFromFeed(on, table, AT_ONCE),
          (tx, spots) => tell(tx, spots, false),
        )
      if (present.has('feed-row-stray'))
        await each(
          'feed-row-stray',
          (on) => strayChanges(on, table, AT_ONCE),
          (tx, spots) => tell(tx, spots, true),
        )
    }
    if (present.has('feed-position-shared'))
      await each('feed-position-shared', (on) => sharedPositions(on, AT_ONCE), spread)
    if (present.has('quota-drift')) await usage.recount()
  }
}
