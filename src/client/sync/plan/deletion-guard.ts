import { type BaseTree, type LocalNode, type RemoteNode, type Tree } from './sync-tree.ts'
import type { Op } from './plan-builder.ts'
import { Refused } from '../../refused.ts'

/** Limit of deletions in one run: a number of files, a share of all known ones, or none. */
export type MaxDelete = { files: number } | { percent: number } | 'any' | undefined

/** Fewer deletions than this never stop a run. */
const FEW = 25
const SHARE = 30
/** With at least this many entries, a side that became empty counts as lost. */
const MIN_EMPTIED = 2

export interface BlockedDeletions {
  /** The side that would lose its files. */
  side: 'local' | 'remote'
  deletions: number
  /** Files in base. */
  of: number
  why: 'many' | 'emptied'
}

interface Parts {
  base: BaseTree
  local: Tree<LocalNode>
  remote: Tree<RemoteNode>
  ops: readonly Op[]
  /** Files in base when the run began. */
  of: number
  max: MaxDelete
}

/**
 * Stops a run that would delete a large part of what both sides had: an unmounted disk, an emptied folder or a server
 * that lost its data look like a user who deletes everything. Moves do not count as deletions.
 */
export function guardDeletions({ base, local, remote, ops, of, max }: Parts): BlockedDeletions | undefined {
  if (max === 'any') return undefined
  const deletions = { local: localDeletions(base, ops), remote: remoteDeletions(ops) }
  const emptied = { local: remote.nodes.size === 0, remote: local.nodes.size === 0 }
  for (const side of ['local', 'remote'] as const) {
    const count = deletions[side]
    if (max === undefined && emptied[side] && base.size >= MIN_EMPTIED && removes(ops, side)) {
      return { side, deletions: count, of, why: 'emptied' }
    }
    if (count > allowed(max, of)) return { side, deletions: count, of, why: 'many' }
  }
  return undefined
}

/** The error of a blocked run: what was about to happen and how to go on. */
export function massDeletionError(
  { side, deletions, of, why }: BlockedDeletions,
  path: string,
  untouched: boolean,
): Refused {
  const where = side === 'local' ? `in ${path}` : 'on the server'
  const what =
    why === 'emptied'
      ? `${side === 'local' ? 'The account' : path} is empty, so everything ${where} would be deleted.`
      : `${deletions} of ${of} files ${where} would be deleted.`
  return new Refused(
    'mass_delete',
    `${what} Nothing ${untouched ? 'was' : 'more was'} changed. ` +
      'Check with svc sync --dry-run; if this is intended, run svc sync --force-delete (or --max-delete N).',
  )
}

function allowed(max: Exclude<MaxDelete, 'any'>, of: number): number {
  if (max === undefined) return Math.max(FEW - 1, Math.floor((of * SHARE) / 100))
  return 'files' in max ? max.files : Math.floor((of * max.percent) / 100)
}

const removes = (ops: readonly Op[], side: BlockedDeletions['side']): boolean =>
  ops.some(({ op }) => op === (side === 'local' ? 'remove-local' : 'remove-remote'))

function localDeletions(base: BaseTree, ops: readonly Op[]): number {
  const arriving = ops.flatMap((op) => (op.op === 'download' && !op.over ? [op.file.sha256] : []))
  return countUnmoved(
    ops.flatMap((op) => {
      if (op.op !== 'remove-local' || op.kind !== 'file') return []
      const before = base.get(op.key)
      return [before?.kind === 'file' ? before.sha256 : '']
    }),
    arriving,
  )
}

function remoteDeletions(ops: readonly Op[]): number {
  const arriving = ops.flatMap((op) => (op.op === 'upload' && !op.over ? [op.local.sha256 ?? ''] : []))
  return countUnmoved(
    ops.flatMap((op) => (op.op === 'remove-remote' && op.kind === 'file' ? [op.sha256 ?? ''] : [])),
    arriving,
  )
}

/** Each arrival accounts for one deletion of the same content. */
function countUnmoved(leaving: string[], arriving: string[]): number {
  const left = new Map<string, number>()
  for (const sha256 of arriving) left.set(sha256, (left.get(sha256) ?? 0) + 1)
  let count = 0
  for (const sha256 of leaving) {
    const moved = left.get(sha256) ?? 0
    if (moved > 0) left.set(sha256, moved - 1)
    else count += 1
  }
  return count
}
