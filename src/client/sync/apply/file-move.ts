import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { contract } from '../../../contract/contract.ts'
import { Changed } from '../sync-errors.ts'
import type { OpOf } from '../plan/plan-builder.ts'
import { foldersAbove } from '../plan/reserved-paths.ts'
import { assertFile, assertFolders, moveFile, renameUnlessTaken, lstatPath } from '../local/file-operations.ts'
import type { Effect } from '../state/commit-batcher.ts'
import { remapKeys, remapTree, type PathRemap } from '../plan/path-remap.ts'
import type { Change } from '../state/sync-state.ts'
import { sameIdentity, type Identity } from '../plan/sync-tree.ts'
import { folderRecords } from './file-upload.ts'
import type { RunContext } from '../run-context.ts'
import { toLocalPath } from '../../files/local-path.ts'
import { removeEmptyTrashFolders, trashPath } from '../local/local-trash.ts'

const action = contract.syncFiles.actions.move

export type Move = OpOf<'move-local'> | OpOf<'move-remote'>

/** Repeats a move of the server locally. */
export function moveLocal(context: RunContext, op: OpOf<'move-local'>): Effect {
  const [from, to] = [toLocalPath(context.root, op.from.here), toLocalPath(context.root, op.here)]
  assertSource(context, op)
  const folders = makeFoldersAbove(context.root, op.here)
  if (op.kind === 'file') {
    const aside = trashPath(context.root, context.run, op.from.here)
    moveFile(from, to, aside)
    removeEmptyTrashFolders(context.root, dirname(aside))
  } else renameUnlessTaken(from, to)
  return { folders: [dirname(from), dirname(to), ...folders], changes: changesAfterMoves(context, [op]) }
}

/** Repeats a local move on the server: one request, whatever a folder contains. */
export async function moveRemote(context: RunContext, op: OpOf<'move-remote'>): Promise<Effect> {
  context.assertRoot()
  assertArrived(context, op)
  await requestMove(context, op.from.there, op.there, op.sha256)
  return { changes: changesAfterMoves(context, [op]) }
}

/** Requests a move, if the server still has what the plan saw. A lost response shows in the next listing. */
export async function requestMove(context: RunContext, from: string, to: string, sha256?: string): Promise<void> {
  const params = { from, to, ...(sha256 === undefined ? {} : { if_sha256: sha256 }) }
  await context.throttle(action, () => context.api.call(action, params, { signal: context.signal }))
}

/** Verifies that the item to rename is as planned. */
export function assertSource(context: RunContext, { from, kind, id }: OpOf<'move-local'>): void {
  assertFolders(context.root, from.here)
  assertIdentity(toLocalPath(context.root, from.here), kind, id)
}

/** Verifies that a moved item is still at its target. */
export function assertArrived(context: RunContext, { here, kind, id }: OpOf<'move-remote'>): void {
  assertFolders(context.root, here)
  assertIdentity(toLocalPath(context.root, here), kind, id)
}

function assertIdentity(place: string, kind: 'file' | 'dir', id: Identity | undefined): void {
  if (id) assertFile(place, id)
  else if (lstatPath(place)?.kind !== kind) throw new Changed('local')
}

/** Creates missing parent folders; returns those in which names were created. */
export function makeFoldersAbove(root: string, path: string): string[] {
  const changed: string[] = []
  for (const folder of foldersAbove(path)) {
    const place = toLocalPath(root, folder)
    const seen = lstatPath(place)
    if (seen && seen.kind !== 'dir') throw new Changed('local')
    if (seen) continue
    mkdirSync(place)
    changed.push(dirname(place))
  }
  return changed
}

/** Updates the state of both sides after moves that were made together. */
export function changesAfterMoves(context: RunContext, ops: readonly Move[]): Change[] {
  const known = ops.filter((op) => op.op === 'move-remote' || !op.undo)
  const remap: PathRemap = new Map(known.map((op) => [op.from.key, { to: op.key, path: op.there }]))
  remapKeys(context.known, remap)
  if (ops[0]?.op === 'move-remote') remapTree(context.remote, remap)
  const moved = ops.map((op) => ({
    from: op.from.key,
    to: op.key,
    ...(known.includes(op) ? { path: op.there } : {}),
    ...(op.op === 'move-local' ? { renamed: { ctimeNs: changeTime(context, op) } } : {}),
  }))
  return [
    { remap: moved },
    ...known.flatMap((op) => folderRecords(context, op.key, op.there)),
    ...ops.flatMap(({ kept }) => kept.map((drop) => ({ drop }))),
  ]
}

/** A rename changes only ctime; after any other change the content must be read again. */
function changeTime(context: RunContext, { here, id }: OpOf<'move-local'>): bigint | undefined {
  const seen = lstatPath(toLocalPath(context.root, here))
  if (!id || seen?.kind !== 'file') return undefined
  const { ctimeNs } = seen.id
  return sameIdentity(seen.id, { ...id, ctimeNs }) ? ctimeNs : undefined
}
