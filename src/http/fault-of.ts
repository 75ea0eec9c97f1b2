import { Busy, DiskFull } from '../base/trouble.ts'
import { fault, Fault } from '../contract/errors.ts'

/** What the caller is told of an error that is no bug; undefined for others. */
export function faultOf(error: unknown): Fault | undefined {
  if (error instanceof Fault) return error
  if (error instanceof DiskFull) return fault('disk_full')
  return error instanceof Busy ? fault('busy', { retryAfter: 2 }) : undefined
}
