import { isFault, type Fault } from '../../contract/errors.ts'
import { Unreachable } from '../errors.ts'

export interface RetryOptions {
  /** Waits, in milliseconds. */
  sleep(ms: number): Promise<void>
  /** Called before each wait, in seconds. */
  waiting?(seconds: number): void
}

/** The longest single wait, in seconds: rate limits clear within a minute. */
const LONGEST = 90
const TRIES = 5

/** Calls, and retries after the time the server asks for while it is busy or rate limits the caller. */
export async function withRetry<T>(call: () => Promise<T>, { sleep, waiting }: RetryOptions): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call()
    } catch (error) {
      if (attempt === TRIES || !isTemporary(error)) throw error
      const seconds = Math.max(1, error.extra.retryAfter ?? 2 ** attempt)
      if (seconds > LONGEST) throw error
      waiting?.(seconds)
      await sleep(seconds * 1_000)
    }
  }
}

const isTemporary = (error: unknown): error is Fault => isFault(error, 'rate_limited') || isFault(error, 'busy')

/** Before it is asked again, in milliseconds. */
const PAUSE = 1_000

/** As `withRetry`, and once more when the connection broke and the outcome is unknown. */
export async function withRetryIfUnknown<T>(call: () => Promise<T>, options: RetryOptions): Promise<T> {
  try {
    return await withRetry(call, options)
  } catch (error) {
    if (!(error instanceof Unreachable && error.outcomeUnknown)) throw error
    await options.sleep(PAUSE)
    return withRetry(call, options)
  }
}
