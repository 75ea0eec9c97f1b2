import { isFault, type ErrorCode } from '../../contract/errors.ts'
import { Changed, Corrupt } from './changed.ts'
import type { Op } from './draft.ts'
import { codeOf } from '../../base/trouble.ts'
import type { Skipped } from './tree.ts'

/** What an error means for the run. */
export type Verdict =
  /** The world moved on: plan anew. */
  | { kind: 'changed'; side: 'here' | 'there' }
  /** This one cannot be done; with `stops`, neither can others of these kinds. */
  | { kind: 'skip'; skipped: Skipped; stops?: readonly Op['op'][] }
  /** The run cannot go on. */
  | { kind: 'end' }

/** The other side is not as planned. */
const MOVED_THERE = new Set<ErrorCode>(['precondition_failed', 'not_empty', 'exists', 'conflict', 'not_found'])
/** The server does not take this one. */
const REFUSED = new Set<ErrorCode>([
  'bad_request',
  'bad_path',
  'too_large',
  'forbidden',
  'internal',
  'unsupported_media_type',
])
/** This side is not as planned. */
const MOVED_HERE = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'ELOOP', 'EEXIST', 'ENOTEMPTY'])
/** Nothing more can be written here. */
const FULL = new Set(['ENOSPC', 'EDQUOT', 'EROFS'])
/** This process may open no more files: nothing can be read or written. */
const EXHAUSTED = new Set(['EMFILE', 'ENFILE', 'ENOMEM'])
/** This file is out of reach. */
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

/** What asks the server for a change. */
const WRITES_THERE = ['upload', 'make-remote', 'move-remote', 'remove-remote'] as const
const WRITES_HERE = ['download', 'make-local', 'move-local', 'set-aside', 'touch', 'remove-local'] as const

export function judge(error: unknown, op: Op): Verdict {
  const path = op.here
  const skip = (code: Skipped['code'], detail?: string): Verdict => ({
    kind: 'skip',
    skipped: detail === undefined ? { path, code } : { path, code, detail },
  })
  if (error instanceof Changed) return { kind: 'changed', side: error.side }
  if (error instanceof Corrupt) return skip('corrupt', error.message)
  if (isFault(error)) {
    if (MOVED_THERE.has(error.code)) return { kind: 'changed', side: 'there' }
    // The file changed while it was sent.
    if (error.code === 'checksum_mismatch') return { kind: 'changed', side: 'here' }
    if (error.code === 'quota_exceeded') return skip('quota', error.message)
    if (error.code === 'disk_full')
      return { kind: 'skip', skipped: { path, code: 'no_space', detail: error.message }, stops: ['upload'] }
    if (error.code === 'maintenance' && error.extra.fields?.['read_only'] === true)
      return { kind: 'skip', skipped: { path, code: 'read_only', detail: error.message }, stops: WRITES_THERE }
    return REFUSED.has(error.code) ? skip('refused', error.message) : { kind: 'end' }
  }
  const code = codeOf(error)
  if (MOVED_HERE.has(code)) return { kind: 'changed', side: 'here' }
  if (FULL.has(code)) return { kind: 'skip', skipped: { path, code: 'no_space', detail: code }, stops: WRITES_HERE }
  if (EXHAUSTED.has(code)) {
    return { kind: 'skip', skipped: { path, code: 'failed', detail: code }, stops: [...WRITES_HERE, 'upload'] }
  }
  return OUT_OF_REACH.has(code) ? skip('failed', code) : { kind: 'end' }
}
