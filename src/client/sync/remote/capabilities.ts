import { DOWNLOAD_BATCH, FILES_BATCH, UPLOAD_BATCH } from '../../../contract/limits.ts'
import { isFault } from '../../../contract/errors.ts'
import { Unreachable } from '../../errors.ts'
import type { Features } from '../../auth/account-identity.ts'

/** Capabilities that a server announced. Those that do not work are withdrawn for the rest of a run. */
export interface Capabilities {
  upload_batch: { entries: number; bytes: number } | undefined
  download_batch: { entries: number } | undefined
  /** `ifEmpty`: a deletion may require that the folder is empty. */
  files_batch: { operations: number; ifEmpty: boolean } | undefined
  /** A download may start at an offset. */
  range: boolean
  /** The change feed covers files. */
  feed: boolean
  /** Whether a batch has ended in a server error: the next one withdraws the capability. */
  failedOnce: boolean
}

/** The smallest useful archive, in bytes: proxies often accept only a megabyte. */
const LEAST_BYTES = 900 * 1024

/** Reads announced capabilities; invalid limits count as none, and our own limits are never exceeded. */
export function readCapabilities(features: Features): Capabilities {
  const limit = (feature: string, name: string, most: number): number => {
    const announced = features[feature]
    if (announced === true) return most
    const value = (announced as Record<string, unknown> | null | undefined)?.[name]
    return Number.isSafeInteger(value) ? Math.min(value as number, most) : 0
  }
  const entries = limit('upload_batch', 'max_entries', UPLOAD_BATCH.max_entries)
  const bytes = limit('upload_batch', 'max_bytes', UPLOAD_BATCH.max_bytes)
  const down = limit('download_batch', 'max_entries', DOWNLOAD_BATCH.max_entries)
  const operations = limit('files_batch', 'max_operations', FILES_BATCH.max_operations)
  const ifEmpty = (features['files_batch'] as Record<string, unknown> | null | undefined)?.['if_empty'] === true
  return {
    upload_batch: entries > 1 && bytes >= LEAST_BYTES ? { entries, bytes } : undefined,
    download_batch: down > 1 ? { entries: down } : undefined,
    files_batch: operations > 1 ? { operations, ifEmpty } : undefined,
    range: features['download_range'] === true,
    feed: features['files_feed'] === true,
    failedOnce: false,
  }
}

/** Statuses of an unknown address or unsupported request. */
const UNSUPPORTED = new Set([400, 404, 405, 415, 501])
/** Includes statuses of proxies that reject such requests. */
const UNSUPPORTED_OR_BLOCKED = new Set([...UNSUPPORTED, 403, 406])

type Batch = 'upload_batch' | 'download_batch' | 'files_batch'

/** Whether items of a failed batch are sent one by one or as a batch again; undefined if batches are not the cause. */
export function fallback(capabilities: Capabilities, batch: Batch, error: unknown): 'alone' | 'again' | undefined {
  if (isFault(error, 'internal') && !capabilities.failedOnce) {
    capabilities.failedOnce = true
    return 'again'
  }
  if (
    isFault(error, 'too_large') &&
    batch === 'upload_batch' &&
    (capabilities.upload_batch?.bytes ?? 0) > LEAST_BYTES
  ) {
    capabilities.upload_batch!.bytes = LEAST_BYTES
    return 'again'
  }
  const absent = isFault(error)
    ? UNSUPPORTED.has(error.status) || ['internal', 'too_large'].includes(error.code)
    : error instanceof Unreachable && error.status !== undefined && UNSUPPORTED_OR_BLOCKED.has(error.status)
  if (!absent) return undefined
  capabilities[batch] = undefined
  return 'alone'
}
