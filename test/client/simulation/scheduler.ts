import { createHash } from 'node:crypto'
import type { Random } from '../../support/random.ts'
import type { Disk } from './disk/disk.ts'
import { PowerCut } from './disk/errors.ts'

/** Something that is under way and ends when it is its turn. */
interface Pending {
  label: string
  /** The machine that waits for it, by its disk. */
  disk: Disk
  /** Whether it happens at the server's, and then also when the machine is off meanwhile: a request that had left. */
  away: 'no' | 'yes' | 'outlives'
  end: () => Promise<void> | void
}

class Timer {
  readonly at: number
  readonly act: () => void
  constructor(at: number, act: () => void) {
    this.at = at
    this.act = act
  }
  ref = () => this
  unref = () => this
  hasRef = () => true
}

/** A file system's call takes its turn early more often than a request: a disk is nearer than a server. */
const NEAR = 3

/**
 * Decides what happens next, by a seed: of all that is under way one thing ends, whoever waited for it runs until everybody waits
 * again, and so on. Time passes only when a timer is chosen.
 */
export function makeScheduler(random: Random, start: number) {
  const pending: Pending[] = []
  const timers = new Set<Timer>()
  const hash = createHash('sha256')
  const trace: string[] = []
  let now = start
  let steps = 0
  /** Whether what runs now is a client: its timers are ours. */
  let inside = false
  const real = { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout }

  function note(line: string): void {
    trace.push(line)
    hash.update(`${line}\n`)
  }

  /** Lets everybody run until all of them wait for something of ours. */
  async function drain(): Promise<void> {
    inside = true
    await new Promise((resolve) => setImmediate(resolve))
    inside = false
  }

  const timer = (ms: number, act: () => void): Timer => {
    const made = new Timer(now + Math.max(0, ms), act)
    timers.add(made)
    return made
  }

  function take(): Pending | Timer | undefined {
    for (let at = pending.length - 1; at >= 0; at -= 1) {
      if (pending[at]!.disk.dead && pending[at]!.away !== 'outlives') pending.splice(at, 1)
    }
    const next = [...timers].reduce<Timer | undefined>(
      (best, each) => (best && best.at <= each.at ? best : each),
      undefined,
    )
    if (pending.length === 0 || (next && random.below(20) === 0)) {
      if (next) timers.delete(next)
      return next
    }
    const at = random.below(Math.min(pending.length, 1 + random.below(pending.length * NEAR)))
    return pending.splice(at, 1)[0]
  }

  return {
    now: () => now,
    isInside: () => inside,
    note,
    trace,
    hash: () => hash.copy().digest('hex'),
    steps: () => steps,
    timer,
    cancel: (given: Timer): void => void timers.delete(given),
    pass: (ms: number): void => void (now += ms),

    /** Resolves with what comes of a deed when its turn comes; never when the machine is off by then. */
    enter<T>(disk: Disk, label: string, deed: () => T | Promise<T>, away: Pending['away'] = 'no'): Promise<T> {
      return new Promise((resolve, reject) => {
        pending.push({
          label,
          disk,
          away,
          async end() {
            inside = away === 'no'
            try {
              const value = await deed()
              inside = true
              if (!disk.dead) resolve(value)
            } catch (error) {
              inside = true
              if (!disk.dead && !(error instanceof PowerCut)) reject(error)
            }
          },
        })
      })
    },

    /** Does one thing and lets everybody run; false when nothing is under way. */
    async step(): Promise<boolean> {
      const next = take()
      if (!next) return false
      steps += 1
      if (next instanceof Timer) {
        note(`${now} timer`)
        now = Math.max(now, next.at)
        inside = true
        next.act()
      } else {
        note(`${now} ${next.disk.mount} ${next.label}`)
        await next.end()
      }
      await drain()
      return true
    },

    /** Begins something of a client's and lets everybody run. */
    async begin(work: () => void): Promise<void> {
      inside = true
      work()
      await drain()
    },

    /** Takes the timers of clients over until the function it returns is called. */
    takeTimers(): () => void {
      const set = (act: (...parts: unknown[]) => void, ms = 0, ...parts: unknown[]): unknown =>
        inside ? timer(ms, () => act(...parts)) : real.setTimeout(act, ms, ...parts)
      globalThis.setTimeout = Object.assign(set, real.setTimeout) as typeof setTimeout
      globalThis.clearTimeout = ((given: unknown) =>
        given instanceof Timer
          ? void timers.delete(given)
          : real.clearTimeout(given as NodeJS.Timeout)) as typeof clearTimeout
      return () => Object.assign(globalThis, real)
    },
  }
}

export type Scheduler = ReturnType<typeof makeScheduler>
