import { sleep as sleepNow, type Sleep } from './sleep.ts'

/** Delays between attempts, in milliseconds. */
export interface BackoffPolicy {
  /** The delay before the second attempt. */
  first: number
  /** What each further delay is multiplied by; 2 by default. */
  factor?: number
  /** The limit up to which delays grow. */
  longest?: number
  /** The number of attempts, the first one included; unlimited by default. */
  attempts?: number
  /** The limit of all delays together. */
  timeLimit?: number
  /** The share of a delay that varies at random, from 0 to 1, so that many clients do not return at once. */
  jitter?: number
  /** From 0 to 1. */
  random?: () => number
}

/** Counts failed attempts and returns the delay before the next one. */
export function makeBackoff({
  first,
  factor = 2,
  longest = Infinity,
  attempts = Infinity,
  timeLimit = Infinity,
  jitter = 0,
  random = Math.random,
}: BackoffPolicy) {
  let failures = 0
  let waited = 0
  return {
    /** The delay after one more failure, or undefined to give up. `retryAfter` is what the other side asks for; it is waited in full. */
    next(retryAfter = 0, limit = longest): number | undefined {
      failures += 1
      if (failures >= attempts) return undefined
      const varied = jitter * random()
      const delay = Math.max(
        Math.min(limit, first * factor ** (failures - 1)) * (1 - varied),
        retryAfter * (1 + varied),
      )
      if (waited + delay > timeLimit) return undefined
      waited += delay
      return delay
    },
    /** Call this after a success. */
    reset(): void {
      failures = 0
      waited = 0
    },
  }
}

export interface RetryOptions extends BackoffPolicy {
  /** Whether another attempt may succeed. */
  isTemporary(error: unknown): boolean
  /** The delay that the other side asks for (Retry-After). */
  retryAfterOf?(error: unknown): number | undefined
  /** Called before each delay. */
  onWait?(ms: number, error: unknown): void
  sleep?: Sleep
  /** Ends a delay. */
  signal?: AbortSignal
}

/** Calls until success, a permanent error, or the end of the policy; throws the last error. */
export async function withRetry<T>(call: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { isTemporary, retryAfterOf, onWait, sleep = sleepNow, signal } = options
  const backoff = makeBackoff(options)
  for (;;) {
    try {
      return await call()
    } catch (error) {
      const delay = isTemporary(error) ? backoff.next(retryAfterOf?.(error)) : undefined
      if (delay === undefined) throw error
      onWait?.(delay, error)
      await sleep(delay, signal)
    }
  }
}
