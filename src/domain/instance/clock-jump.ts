import { DAY, iso } from '../../base/clock.ts'
import { findFact, noteFact } from '../../storage/instance/settings.ts'
import type { Database, Reader } from '../../storage/engine/database.ts'

// Trash, versions and tombstones expire by the clock of the machine. A clock that jumps ahead would expire all of them at
// once, so after a long pause nothing expires until a second run, a day later, sees about the same time.

/** Longest pause between two runs that is not questioned. */
const LONGEST_PAUSE = 7 * DAY
/** When the second run counts: after a day, and before so long that the clock may have jumped again. */
const CONFIRMED = { after: DAY, before: 60 * DAY }

/** A pause that is not confirmed yet, epoch ms. */
export interface ClockJump {
  before: number
  after: number
  /** When a run removes again what has expired. */
  until: number
}

/** Nothing is removed by age while the clock may have jumped. */
export class ClockInDoubt extends Error {
  override name = 'ClockInDoubt'
  readonly exitCode = 8
  readonly reason = 'clock_in_doubt'
  constructor({ before, after, until }: ClockJump) {
    super(
      `Nothing was removed: the clock says ${iso(after)}, and old data was last removed on ${iso(before)}. If the clock is right, ` +
        `run this again after ${iso(until)}, or let svc serve do it; otherwise set the clock.`,
    )
  }
}

interface Run {
  /** The last run that was not questioned. */
  at: number
  /** The first run after the pause. */
  resumed?: number
}

const KEY = 'upkeep'

async function lastRun(on: Reader): Promise<Run | undefined> {
  const value = await findFact(on, KEY)
  return value === undefined ? undefined : (JSON.parse(value) as Run)
}

/** The pause that the last run found; undefined if it is over. */
export async function unconfirmedJump(on: Reader): Promise<ClockJump | undefined> {
  const { at, resumed } = (await lastRun(on)) ?? { at: 0 }
  return resumed === undefined ? undefined : { before: at, after: resumed, until: resumed + CONFIRMED.after }
}

/** Records a run that removes what has expired. Returns the jump that forbids it, or undefined. */
export function noteRun(database: Database, now: number): Promise<ClockJump | undefined> {
  return database.write('instance', async (tx) => {
    const last = await lastRun(tx)
    const seen = last?.resumed === undefined ? undefined : now - last.resumed
    const isConfirmed = seen !== undefined && seen >= CONFIRMED.after && seen <= CONFIRMED.before
    const isJump = last !== undefined && now - last.at > LONGEST_PAUSE && !isConfirmed
    const isPending = seen !== undefined && seen >= 0 && seen < CONFIRMED.after
    const run: Run = isJump ? { at: last.at, resumed: isPending ? last.resumed! : now } : { at: now }
    // Every write makes the next backup read the database: the time of the last run may be a day late.
    const isRecent = last !== undefined && last.resumed === undefined && now >= last.at && now - last.at < DAY
    if (!isRecent) await noteFact(tx, KEY, JSON.stringify(run))
    return isJump ? unconfirmedJump(tx) : undefined
  })
}
