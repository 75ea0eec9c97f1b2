import { isFault, type ErrorCode } from '../../../contract/errors.ts'
import { Changed, CorruptContent } from '../sync-errors.ts'
import type { Op } from '../plan/plan-builder.ts'
import { errorCode } from '../../../base/errors.ts'
import type { Skipped } from '../plan/sync-tree.ts'

/** How a run reacts to an error. */
export type ErrorClass =
  /** Something changed since the plan: plan again. */
  | { kind: 'changed'; side: 'local' | 'remote' }
  /** The operation failed permanently; with `stops`, others of these kinds will fail too. */
  | { kind: 'skip'; skipped: Skipped; stops?: readonly Op['op'][] }
  /** The run cannot go on. */
  | { kind: 'end' }

/** The remote side differs from the plan. */
const CHANGED_REMOTE = new Set<ErrorCode>(['precondition_failed', 'not_empty', 'exists', 'conflict', 'not_found'])
/** The server rejects this item. */
const REFUSED = new Set<ErrorCode>([
  'bad_request',
  'bad_path',
  'too_large',
  'forbidden',
  'internal',
  'unsupported_media_type',
])
/** The local side differs from the plan. */
const CHANGED_LOCAL = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'ELOOP', 'EEXIST', 'ENOTEMPTY'])
/** The local disk accepts no writes. */
const FULL = new Set(['ENOSPC', 'EDQUOT', 'EROFS'])
/** Limits of this process: no files can be read or written. */
const EXHAUSTED = new Set(['EMFILE', 'ENFILE', 'ENOMEM'])
/** This file cannot be accessed. */
const OUT_OF_REACH = new Set([
  'EACCES',
  'EPERM',
  'EBUSY',
  'EIO',
  'ENAMETOOLONG',
  'EXDEV',
  'ETXTBSY',
  'EFBIG',
  'EINVAL',
  'ENXIO',
])

/** Operations that write to the server. */
const WRITES_REMOTE = ['upload', 'make-remote', 'move-remote', 'remove-remote'] as const
const WRITES_LOCAL = ['download', 'make-local', 'move-local', 'set-aside', 'touch', 'remove-local'] as const

export function classifyError(error: unknown, op: Op): ErrorClass {
  const path = op.here
  const skip = (code: Skipped['code'], detail?: string): ErrorClass => ({
    kind: 'skip',
    skipped: detail === undefined ? { path, code } : { path, code, detail },
  })
  if (error instanceof Changed) return { kind: 'changed', side: error.side }
  if (error instanceof CorruptContent) return skip('corrupt', error.message)
  if (isFault(error)) {
    if (CHANGED_REMOTE.has(error.code)) return { kind: 'changed', side: 'remote' }
    // The file changed while it was sent.
    if (error.code === 'checksum_mismatch') return { kind: 'changed', side: 'local' }
    if (error.code === 'quota_exceeded' || error.code === 'too_many_files') return skip('quota', error.message)
    if (error.code === 'disk_full')
      return { kind: 'skip', skipped: { path, code: 'no_space', detail: error.message }, stops: ['upload'] }
    if (error.code === 'maintenance' && error.extra.fields?.['read_only'] === true)
      return { kind: 'skip', skipped: { path, code: 'read_only', detail: error.message }, stops: WRITES_REMOTE }
    return REFUSED.has(error.code) ? skip('refused', error.message) : { kind: 'end' }
  }
  const code = errorCode(error)
  if (CHANGED_LOCAL.has(code)) return { kind: 'changed', side: 'local' }
  if (FULL.has(code)) return { kind: 'skip', skipped: { path, code: 'no_space', detail: code }, stops: WRITES_LOCAL }
  if (EXHAUSTED.has(code)) {
    return { kind: 'skip', skipped: { path, code: 'failed', detail: code }, stops: [...WRITES_LOCAL, 'upload'] }
  }
  return OUT_OF_REACH.has(code) ? skip('failed', code) : { kind: 'end' }
}
