import { DAY } from '../../../base/clock.ts'
import { isCounted, restOfRule } from '../../kit/recurrence/rule.ts'
import type { Expansion } from '../../kit/recurrence/expand-rule.ts'

type Expand = (expansion: Expansion) => Promise<readonly number[] | undefined>

/** How far the next date is looked for: first near, because most rules are dense, then far, ms. */
const RANGES = [400 * DAY, 10 * 366 * DAY]

export interface NextDue {
  due_on: string
  /** With one occurrence less, if it counts them. */
  rrule: string
}

/**
 * The next date of a task that repeats: after the one that is due, and not before a day. `ended` if there is none,
 * undefined if the rule cannot be calculated.
 */
export async function nextDue(
  { due_on, rrule }: NextDue,
  earliest: string,
  expand: Expand,
): Promise<NextDue | 'ended' | undefined> {
  const start = Date.parse(due_on)
  const from = Math.max(start + DAY, Date.parse(earliest))
  const common = { rule: rrule, start, zone: 'UTC' }
  for (const range of RANGES) {
    const found = await expand({ ...common, from, to: from + range, limit: 1 })
    if (found === undefined) return undefined
    const [next] = found
    if (next === undefined) continue
    const passed = isCounted(rrule)
      ? await expand({ ...common, from: start, to: next - 1, limit: Number.MAX_SAFE_INTEGER })
      : []
    return passed && { due_on: new Date(next).toISOString().slice(0, 10), rrule: restOfRule(rrule, passed.length) }
  }
  return 'ended'
}
