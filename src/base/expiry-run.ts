import { DAY } from './clock.ts'

// What expires does so by the clock of the machine. A clock that jumps ahead would expire all of it at once, so after a
// long pause nothing expires until a second run, a day later, sees about the same time.

/** Longest pause between two runs that is not questioned. */
const LONGEST_PAUSE = 7 * DAY
/** When the second run counts: after a day, and before so long that the clock may have jumped again. */
export const CONFIRMED = { after: DAY, before: 60 * DAY }

/** A record of runs that remove what has expired, epoch ms. */
export interface ExpiryRun {
  /** The last run that was not questioned. */
  at: number
  /** The first run after the pause. */
  resumed?: number
}

/** Whether the clock may have jumped since the recorded run, and the new record; undefined if the old one is recent enough. */
export function checkRun(last: ExpiryRun | undefined, now: number): { isJump: boolean; run: ExpiryRun | undefined } {
  const seen = last?.resumed === undefined ? undefined : now - last.resumed
  const isConfirmed = seen !== undefined && seen >= CONFIRMED.after && seen <= CONFIRMED.before
  const isJump = last !== undefined && now - last.at > LONGEST_PAUSE && !isConfirmed
  const isPending = seen !== undefined && seen >= 0 && seen < CONFIRMED.after
  const isRecent = last !== undefined && last.resumed === undefined && now >= last.at && now - last.at < DAY
  if (isRecent) return { isJump, run: undefined }
  return { isJump, run: isJump ? { at: last.at, resumed: isPending ? last.resumed! : now } : { at: now } }
}
