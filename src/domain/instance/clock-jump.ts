import { iso } from '../../base/clock.ts'
import { checkRun, CONFIRMED, type ExpiryRun } from '../../base/expiry-run.ts'
import { findFact, noteFact } from '../../storage/instance/settings.ts'
import type { Database, Reader } from '../../storage/engine/database.ts'

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

const KEY = 'upkeep'

async function lastRun(on: Reader): Promise<ExpiryRun | undefined> {
  const value = await findFact(on, KEY)
  return value === undefined ? undefined : (JSON.parse(value) as ExpiryRun)
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
    const { isJump, run } = checkRun(last, now)
    // Every write makes the next backup read the database.
    if (run) await noteFact(tx, KEY, JSON.stringify(run))
    return isJump ? unconfirmedJump(tx) : undefined
  })
}
