import { fault, type Fault } from '../../contract/errors.ts'

/** A 400 for a value that breaks a rule, with a message for screens and terminals. */
export const invalidField = (field: string, message: string): Fault =>
  fault('bad_request', { text: message, fields: { details: [{ path: field, message }] } })

/**
 * When a lock of this duration ends; null if it is over. One that ends much later began while the clock was ahead: it is
 * over too, because nobody would be let in until that time.
 */
export const lockEnd = (until: number, now: number, duration: number): number | null =>
  until > now && until <= now + 2 * duration ? until : null

/** Whole seconds until `moment` for Retry-After, at least one. */
export const secondsUntil = (moment: number, now: number): number => Math.max(1, Math.ceil((moment - now) / 1_000))
