import { whileBusy, type RetryOptions } from '../client/http/request-retry.ts'
import type { Io } from './io.ts'

/** Retries for a terminal: announces each delay. */
export const retryOptions = (io: Io): RetryOptions => ({
  ...whileBusy,
  onWait: (ms) => io.info(`The server asks for a delay of ${Math.ceil(ms / 1_000)} s.`),
})
