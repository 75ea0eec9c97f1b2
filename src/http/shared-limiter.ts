import { hash } from 'node:crypto'
import type { Clock } from '../base/clock.ts'
import { LIMIT_WINDOW } from '../contract/limits.ts'
import type { Instance } from '../domain/instance/instance.ts'
import { makeLimiter, type Count, type Limiter, type Quota } from './limiter.ts'

// Rate limits that several servers have in common. Each server counts by itself, so that no request waits, and tells the others what
// it accepted soon after. A message without news of the clock holds times that have passed, not times of day: the clocks of servers
// may differ.

type Peers = NonNullable<Instance['peers']>

/** Shortest time between two messages of a server, ms. */
const EVERY_MS = 50
/** Most counts of a message, which are sure to fit in it. */
const MOST_COUNTS = 300
/** Longest encoded count: name, units and age, with separators. */
const COUNT_BYTES = 24
const NAME = /^[\w-]{12}$/
const NUMBER = /^[0-9a-z]{1,6}$/
/** Ages are in tenths of a second. */
const AGE_MS = 100
const OLDEST = (LIMIT_WINDOW * 1_000) / AGE_MS

const encode = ({ key, units, age }: Count): string =>
  `${key}.${units.toString(36)}.${Math.min(OLDEST, Math.max(0, Math.ceil(age / AGE_MS))).toString(36)}`

function decode(text: string, late: number): Count[] {
  const [key = '', units = '', age = '', ...more] = text.split('.')
  if (more.length > 0 || !NAME.test(key) || !NUMBER.test(units) || !NUMBER.test(age)) return []
  return [{ key, units: Number.parseInt(units, 36), age: Number.parseInt(age, 36) * AGE_MS + late }]
}

/** The name of a key: short, and no address or user to read for others with access to the database. */
const nameOf = (key: string): string => hash('sha256', key, 'base64url').slice(0, 12)

/** Most senders that are remembered. */
const SENDERS = 100
/** How fast the clock of another machine may drift. */
const DRIFT = 0.001

/**
 * How much later than usual messages of a sender arrive, by the clocks of both processes since they started. After a pause of this
 * process those of minutes arrive at once, and are not of now.
 */
export function makeLateness() {
  const known = new Map<string, { least: number; at: number }>()
  return (from: string, sentAt: number, now: number): number => {
    const delay = now - sentAt
    const before = known.get(from)
    const least = before ? Math.min(delay, before.least + (now - before.at) * DRIFT) : delay
    known.delete(from)
    known.set(from, { least, at: now })
    for (const oldest of known.keys()) if (known.size > SENDERS) known.delete(oldest)
    return delay - least
  }
}

/** A limiter that counts for all servers of the instance, where there can be several. */
export function sharedLimiter(clock: Clock, peers: Peers | undefined, uptime = () => performance.now()): Limiter {
  if (!peers) return makeLimiter(clock)
  const most = Math.min(MOST_COUNTS, Math.floor(peers.maxBytes / COUNT_BYTES) - 1)
  const latenessOf = makeLateness()
  let isWaiting = false
  let isListening = false

  /** Sends what is due; if that fails, the others do not count it. */
  async function send(): Promise<void> {
    const counts = limiter.takeUntold(most).map(encode)
    if (counts.length > 0) await peers!.send([Math.round(uptime()).toString(36), ...counts].join(' '))
  }

  function onDue(): void {
    if (isWaiting) return
    isWaiting = true
    const end = () => {
      isWaiting = false
      if (limiter.hasDue()) onDue()
    }
    setTimeout(() => void send().then(end, end), EVERY_MS).unref()
  }

  function receive(from: string, message: string): void {
    const [sentAt = '', ...counts] = message.split(' ', MOST_COUNTS + 1)
    if (!/^[0-9a-z]{1,8}$/.test(sentAt)) return
    const late = latenessOf(from, Number.parseInt(sentAt, 36), uptime())
    limiter.add(counts.flatMap((text) => decode(text, late)))
  }

  const limiter = makeLimiter(clock, { nameOf, onDue })
  return {
    ...limiter,
    acquire(...quotas: [Quota, ...Quota[]]) {
      if (!isListening) peers.listen(receive)
      isListening = true
      return limiter.acquire(...quotas)
    },
  }
}
