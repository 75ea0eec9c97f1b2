import { iso } from '../../base/clock.ts'
import { findingText } from '../../contract/finding-texts.ts'
import { failure, fine, warning, type Check } from './finding.ts'

// An earlier time is certainly wrong: the program itself is younger.
const EARLIEST = Date.UTC(2026, 0, 1)

/** Tolerance for log entries from the future, in milliseconds: several servers share one log. */
const TOLERANCE = 5 * 60_000

/** Most milliseconds between the clocks of two machines. Beyond, sessions and second factors end early or late. */
const MAX_OFFSET = 5_000

export const clockCheck: Check = {
  id: 'clock',
  summary: 'the clock is right: neither years off nor set back',
  async runChecks({ domain }) {
    const now = Date.now()
    const remedy = findingText('remedy_clock')
    const [newest] = await domain.instance.audit.list({ limit: 1 })
    if (now < EARLIEST) return failure(findingText('clock_wrong', { now: new Date(now).toISOString() }), remedy)
    if (newest !== undefined && newest.at > now + TOLERANCE) {
      const values = { logged: new Date(newest.at).toISOString(), now: new Date(now).toISOString() }
      return failure(findingText('clock_set_back', values), remedy)
    }
    const asked = Date.now()
    const other = await domain.instance.databaseClock()
    // The other clock was read between two readings of this one.
    const offset = other === undefined ? 0 : other < asked ? other - asked : Math.max(0, other - Date.now())
    if (Math.abs(offset) > MAX_OFFSET)
      return warning(findingText('clock_offset', { seconds: Math.round(Math.abs(offset) / 1_000) }), remedy)
    const jump = await domain.instance.clockJump()
    if (jump) {
      const values = { before: iso(jump.before), after: iso(jump.after), until: iso(jump.until) }
      return warning(findingText('clock_jumped', values), findingText('remedy_clock_jumped'))
    }
    return fine(new Date(now).toISOString())
  },
}
