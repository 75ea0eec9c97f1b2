import { fault, type Fault } from '../../contract/errors.ts'

/** A 400 for a value that breaks a rule, in words that make sense on a screen and in a terminal. */
export const refuse = (field: string, message: string): Fault =>
  fault('bad_request', { text: message, fields: { details: [{ path: field, message }] } })

/** Whole seconds until a moment, at least one, for Retry-After. */
export const secondsUntil = (moment: number, now: number): number => Math.max(1, Math.ceil((moment - now) / 1_000))
