import { Busy, DatabaseMoved, DiskFull, FlushFailed, Unavailable } from '../base/errors.ts'
import { fault, Fault } from '../contract/errors.ts'

const DATA_GONE = 'The server cannot reach its data; its log tells its administrator why.'

/** The fault for a known error; undefined for a bug. */
export function faultFromError(error: unknown): Fault | undefined {
  if (error instanceof Fault) return error
  if (error instanceof DiskFull) return fault('disk_full')
  if (error instanceof DatabaseMoved || error instanceof FlushFailed || error instanceof Unavailable)
    return fault('busy', { text: DATA_GONE, retryAfter: 10 })
  return error instanceof Busy ? fault('busy', { retryAfter: 2 }) : undefined
}
