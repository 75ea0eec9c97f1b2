import type { RetryOptions } from '../client/http/retry.ts'
import type { Io } from './io.ts'

/** Retries for a terminal: each wait is announced. */
export const retryOptions = (io: Io): RetryOptions => ({
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  waiting: (seconds) => io.info(`The server asks to wait ${seconds} s.`),
})
