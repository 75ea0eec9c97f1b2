import { Busy } from '../../../base/errors.ts'
import { withRetry } from '../../../base/retry.ts'

/** Delays while the database is away, ms; it comes back for all servers at once. */
const DELAYS = { first: 500, longest: 2_000, jitter: 0.5 }

/** Repeats a write until the database takes it, or until the signal aborts: what it stores cannot be made again for free. */
export const untilStored = <T>(write: () => Promise<T>, signal: AbortSignal): Promise<T> =>
  withRetry(write, { ...DELAYS, isTemporary: (error) => error instanceof Busy, signal })
