import { badRequest } from '../../contract/errors.ts'

// A time zone is required: without one, the time would be in the zone of the server.
const ISO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/

/** Parses an ISO 8601 time into epoch ms. Fault `bad_request` naming the field. */
export function parseTimeParam(field: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const time = ISO.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(time)) throw badRequest(field, 'must be a moment such as 2026-11-21T15:00:00Z')
  return time
}
