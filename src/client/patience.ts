import { isFault, type Fault } from '../contract/errors.ts'
import { Unreachable } from './trouble.ts'

export interface Patience {
  /** Waits, in milliseconds. */
  sleep(ms: number): Promise<void>
  /** Told before each wait, in seconds. */
  waiting?(seconds: number): void
}

/** The longest single wait that is sat out, in seconds: rate limits clear within a minute. */
const LONGEST = 90
const TRIES = 5

/** Calls, and calls again after the time the server asks for when it is busy or a rate limit is reached. */
export async function patiently<T>(call: () => Promise<T>, { sleep, waiting }: Patience): Promise<T> {
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

/** As `patiently`, and once more when the connection broke and nobody knows whether the server had carried the request out. */
export async function decided<T>(call: () => Promise<T>, patience: Patience): Promise<T> {
  try {
    return await patiently(call, patience)
  } catch (error) {
    if (!(error instanceof Unreachable && error.undecided)) throw error
    await patience.sleep(PAUSE)
    return patiently(call, patience)
  }
}
