import type { Patience } from '../client/patience.ts'
import type { Io } from './io.ts'

/** Patience for somebody in front of a terminal: says how long it waits, and why. */
export const patienceOf = (io: Io): Patience => ({
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  waiting: (seconds) => io.note(`The server asks to wait ${seconds} s.`),
})
