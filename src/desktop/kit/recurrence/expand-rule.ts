import { RRuleTemporal } from 'rrule-temporal'
import { basicTime, wallOf } from '../../../base/zoned-time.ts'

export interface Expansion {
  rule: string
  /** The first occurrence, ms. */
  start: number
  zone: string
  from: number
  to: number
  /** Most starts that are answered. */
  limit: number
}

/**
 * The moments in a range at which a rule repeats an event; undefined for a rule that is not valid or repeats more than
 * hourly. A rule can keep this busy for minutes, so it runs in a worker that is ended.
 */
export function expandRule({ rule, start, zone, from, to, limit }: Expansion): number[] | undefined {
  if (/[\r\n]|FREQ=(SECONDLY|MINUTELY)/i.test(rule)) return undefined
  try {
    const wall = basicTime(wallOf(start, zone))
    const parsed = new RRuleTemporal({ rruleString: `DTSTART;TZID=${zone}:${wall}\nRRULE:${rule}` })
    const found = parsed.between(new Date(from), new Date(to), true)
    return found.slice(0, limit).map(({ epochMilliseconds }) => epochMilliseconds)
  } catch {
    return undefined
  }
}
