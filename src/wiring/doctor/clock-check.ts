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
    if (now < EARLIEST) return failure(findingText('clock_wrong', { now: iso(now) }), remedy)
    const { audit } = domain.instance
    const [last] = await audit.after((await audit.newest()) - 1, 1)
    const [latest] = await audit.list({ limit: 1 })
    const values = { now: iso(now), logged: iso(latest?.at ?? now) }
    if (last !== undefined && last.at > now + TOLERANCE) {
      const text = findingText('clock_set_back', { ...values, logged: iso(last.at) })
      return failure(text, findingText('remedy_clock_set_back'))
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
    // Later entries have times before now: the clock was put right.
    return fine(latest && latest.at > now + TOLERANCE ? findingText('clock_was_ahead', values) : values.now)
  },
}
