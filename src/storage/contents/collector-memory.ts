import { SECOND } from '../../base/clock.ts'
import type { Reader, Writer } from '../engine/database.ts'
import { findFact, putFact } from '../instance/settings.ts'

// What the collector remembers, so that it can tell what uploads left behind from contents whose rows were lost. All times
// are epoch milliseconds of the machine.

export interface CollectorMemory {
  /** The last moment at which a process with this database is known to have stored something; null for never. */
  seen: number | null
  /** Stretches of time, since the last collection, in which no process with this database stored anything. */
  absences: [from: number, to: number][]
  /** Everything without a row that was touched before this was removed already. */
  swept: number
  /** Contents whose rows are removed and whose blobs are about to be. */
  doomed: string[]
  /** The most that was collected in one go. */
  most: { contents: number; bytes: number }
}

const KEY = 'collector'

/** How long after `seen` something may have been stored that is not noted yet. */
export const NOTED_EVERY = 5 * SECOND
const SLACK = 10 * SECOND

export async function memoryOf(on: Reader): Promise<CollectorMemory> {
  const stored = await findFact(on, KEY)
  const known = stored === undefined ? {} : (JSON.parse(stored) as Partial<CollectorMemory>)
  return { seen: null, absences: [], swept: 0, doomed: [], most: { contents: 0, bytes: 0 }, ...known }
}

/** Changes what is remembered. */
export async function remember(
  tx: Writer,
  change: (memory: CollectorMemory) => Partial<CollectorMemory>,
): Promise<void> {
  const memory = await memoryOf(tx)
  await putFact(tx, KEY, JSON.stringify({ ...memory, ...change(memory) }))
}

/**
 * Notes that a process which has had the database open since `opened` stores something. What others stored between the
 * last note and `opened`, they stored with another copy of it.
 */
export const noteStoring = (tx: Writer, opened: number, now: number): Promise<void> =>
  remember(tx, ({ seen, absences }) => ({
    seen: Math.max(seen ?? 0, now),
    absences: seen !== null && opened > seen + SLACK ? [...absences, [seen + SLACK, opened]] : absences,
  }))

/** Whether a blob without a row is what this database's own uploads may have left. */
export const isExplained = ({ absences, swept }: CollectorMemory, touched: number): boolean =>
  touched >= swept && !absences.some(([from, to]) => touched > from && touched < to)
