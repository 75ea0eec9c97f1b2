import { badRequest } from '../../contract/errors.ts'

// With a zone: without one it would be a moment of this machine, which nobody far away means.
const ISO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/

/** The moment a text names, epoch ms. Fault `bad_request` naming the field where it names none. */
export function momentIn(field: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const moment = ISO.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(moment)) throw badRequest(field, 'must be a moment such as 2026-11-21T15:00:00Z')
  return moment
}
