import { fault, type Fault } from '../../contract/errors.ts'

/** A 400 for a value that breaks a rule, with a message for screens and terminals. */
export const invalidField = (field: string, message: string): Fault =>
  fault('bad_request', { text: message, fields: { details: [{ path: field, message }] } })

/** Whole seconds until `moment` for Retry-After, at least one. */
export const secondsUntil = (moment: number, now: number): number => Math.max(1, Math.ceil((moment - now) / 1_000))
