import { whileBusy, type RetryOptions } from '../client/http/retry.ts'
import type { Io } from './io.ts'

/** Retries for a terminal: announces each delay. */
export const retryOptions = (io: Io): RetryOptions => ({
  ...whileBusy,
  onWait: (ms) => io.info(`The server asks to wait ${Math.ceil(ms / 1_000)} s.`),
})
