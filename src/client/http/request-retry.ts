import { SECOND } from '../../base/clock.ts'
import { withRetry, type RetryOptions } from '../../base/retry.ts'
import { isFault } from '../../contract/errors.ts'
import { Unreachable } from '../errors.ts'

/** The delay that a server asks for (Retry-After), in milliseconds. */
export const retryAfterOf = (error: unknown): number | undefined =>
  isFault(error) && error.extra.retryAfter !== undefined ? error.extra.retryAfter * SECOND : undefined

/** Longest single delay: rate limits clear within a minute. */
const LONGEST = 90 * SECOND

/** Retries while the server is busy or rate-limits the caller. */
export const whileBusy: RetryOptions = {
  first: 2 * SECOND,
  attempts: 5,
  retryAfterOf,
  isTemporary: (error) =>
    (isFault(error, 'rate_limited') || isFault(error, 'busy')) && (retryAfterOf(error) ?? 0) <= LONGEST,
}

/** Retries once when the connection broke and the outcome is unknown. */
const ifOutcomeUnknown: RetryOptions = {
  first: SECOND,
  attempts: 2,
  isTemporary: (error) => error instanceof Unreachable && error.outcomeUnknown,
}

/** For idempotent requests: retries while the server is busy, and once after a broken connection. */
export const withRetryIfUnknown = <T>(call: () => Promise<T>, options: RetryOptions): Promise<T> =>
  withRetry(() => withRetry(call, options), ifOutcomeUnknown)

export { withRetry, type RetryOptions } from '../../base/retry.ts'
