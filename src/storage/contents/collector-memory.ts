import { isFuture, SECOND } from '../../base/clock.ts'
import type { Database, Reader, Writer } from '../engine/database.ts'
import { findFact, putFact } from '../instance/settings.ts'

// Lets the collector tell leftovers of uploads from contents whose rows were lost. Times are epoch ms of the machine.

export interface CollectorMemory {
  /** When a process with this database last stored something; null for never. */
  seen: number | null
  /** Periods since the last collection in which no process with this database stored anything. */
  absences: [from: number, to: number][]
  /** Everything without a row and touched before this time was removed already. */
  swept: number
  /** Contents whose rows are deleted and whose blobs are about to be. */
  doomed: string[]
  /** The largest collection so far. */
  most: { contents: number; bytes: number }
}

const KEY = 'collector'

/** How long after `seen` something may be stored without being recorded. */
const RECORD_EVERY = 5 * SECOND
const SLACK = 10 * SECOND

/** Times in ms since 1970, sizes in bytes. */
export async function memoryOf(on: Reader): Promise<CollectorMemory> {
  const stored = await findFact(on, KEY)
  const known = stored === undefined ? {} : (JSON.parse(stored) as Partial<CollectorMemory>)
  return { seen: null, absences: [], swept: 0, doomed: [], most: { contents: 0, bytes: 0 }, ...known }
}

/** Changes some of the fields in one transaction. */
export async function remember(
  tx: Writer,
  change: (memory: CollectorMemory) => Partial<CollectorMemory>,
): Promise<void> {
  const memory = await memoryOf(tx)
  await putFact(tx, KEY, JSON.stringify({ ...memory, ...change(memory) }))
}

/**
 * Records that a process with the database open since `opened` stores something. Anything stored between the previous
 * record and `opened` came from another copy of the database. After the clock was set back, times in its future count
 * no more.
 */
const recordStoring = (tx: Writer, opened: number, now: number): Promise<void> =>
  remember(tx, ({ seen, absences, swept }) => ({
    seen: seen === null || isFuture(seen, now) ? now : Math.max(seen, now),
    absences: seen !== null && opened > seen + SLACK ? [...absences, [seen + SLACK, opened]] : absences,
    swept: Math.min(swept, now),
  }))

/** Returns what runs a step that stores something, and records it before and for as long as it takes. */
export function makeStoringRecord(database: Database) {
  let opened = Date.now()
  let last = -Infinity
  async function record(): Promise<void> {
    const now = Date.now()
    // Start over if the clock was set back.
    if (Math.abs(now - last) < RECORD_EVERY) return
    opened = Math.min(opened, now)
    await database.write('instance', (tx) => recordStoring(tx, opened, now))
    last = now
  }
  return async (store: () => Promise<void>): Promise<void> => {
    await record()
    // If this fails, so will the claim of what is stored.
    const timer = setInterval(() => void record().catch(() => undefined), RECORD_EVERY)
    await store().finally(() => clearInterval(timer))
  }
}

/** Whether a blob without a row may be a leftover of this database's uploads. */
export const isExplained = ({ absences, swept }: CollectorMemory, touched: number): boolean =>
  touched >= swept && !absences.some(([from, to]) => touched > from && touched < to)
