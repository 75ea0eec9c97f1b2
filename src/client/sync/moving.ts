import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { contract } from '../../contract/contract.ts'
import { Changed } from './changed.ts'
import type { OpOf } from './draft.ts'
import { foldersOver, placeOf } from './paths.ts'
import { assertFile, assertFolders, moveFile, renameAside, see, tidyTrash, trashPlace } from './placing.ts'
import type { Effect } from './settle.ts'
import { shiftKeys, shiftTree, type Shifts } from './shift.ts'
import type { Change } from './state.ts'
import { sameIdentity, type Identity } from './tree.ts'
import { folderRecords } from './upload.ts'
import type { Work } from './work.ts'

const action = contract.syncFiles.actions.move

export type Move = OpOf<'move-local'> | OpOf<'move-remote'>

/** Renames here what was moved on the server: what it was stays what it is, byte for byte. */
export function moveHere(work: Work, op: OpOf<'move-local'>): Effect {
  const [from, to] = [placeOf(work.root, op.from.here), placeOf(work.root, op.here)]
  assertSource(work, op)
  const folders = makeFoldersOver(work.root, op.here)
  if (op.kind === 'file') {
    const aside = trashPlace(work.root, work.run, op.from.here)
    moveFile(from, to, aside)
    tidyTrash(work.root, dirname(aside))
  } else renameAside(from, to)
  return { folders: [dirname(from), dirname(to), ...folders], changes: followed(work, [op]) }
}

/** Moves on the server what was moved here: one request, whatever a folder holds. */
export async function moveThere(work: Work, op: OpOf<'move-remote'>): Promise<Effect> {
  work.assertRoot()
  assertArrived(work, op)
  await requestMove(work, op.from.there, op.there, op.sha256)
  return { changes: followed(work, [op]) }
}

/** Asks for a move, if the server still has what the plan saw. An answer that gets lost shows in the next listing. */
export async function requestMove(work: Work, from: string, to: string, sha256?: string): Promise<void> {
  const params = { from, to, ...(sha256 === undefined ? {} : { if_sha256: sha256 }) }
  await work.pace(action, () => work.api.call(action, params, { signal: work.signal }))
}

/** Makes sure that what is about to be renamed here is what the plan saw. */
export function assertSource(work: Work, { from, kind, id }: OpOf<'move-local'>): void {
  assertFolders(work.root, from.here)
  assertThat(placeOf(work.root, from.here), kind, id)
}

/** Makes sure that what was moved here is still where it was moved to. */
export function assertArrived(work: Work, { here, kind, id }: OpOf<'move-remote'>): void {
  assertFolders(work.root, here)
  assertThat(placeOf(work.root, here), kind, id)
}

function assertThat(place: string, kind: 'file' | 'dir', id: Identity | undefined): void {
  if (id) assertFile(place, id)
  else if (see(place)?.kind !== kind) throw new Changed('here')
}

/** Makes the folders over a path that are missing; returns those in which names came into being. */
export function makeFoldersOver(root: string, path: string): string[] {
  const changed: string[] = []
  for (const folder of foldersOver(path)) {
    const place = placeOf(root, folder)
    const seen = see(place)
    if (seen && seen.kind !== 'dir') throw new Changed('here')
    if (seen) continue
    mkdirSync(place)
    changed.push(dirname(place))
  }
  return changed
}

/** What is known of both sides follows moves that were made together. */
export function followed(work: Work, ops: readonly Move[]): Change[] {
  const known = ops.filter((op) => op.op === 'move-remote' || !op.undo)
  const shifts: Shifts = new Map(known.map((op) => [op.from.key, { to: op.key, path: op.there }]))
  shiftKeys(work.known, shifts)
  if (ops[0]?.op === 'move-remote') shiftTree(work.remote, shifts)
  const shift = ops.map((op) => ({
    from: op.from.key,
    to: op.key,
    ...(known.includes(op) ? { path: op.there } : {}),
    ...(op.op === 'move-local' ? { renamed: { ctimeNs: changeTime(work, op) } } : {}),
  }))
  return [
    { shift },
    ...known.flatMap((op) => folderRecords(work, op.key, op.there)),
    ...ops.flatMap(({ kept }) => kept.map((drop) => ({ drop }))),
  ]
}

/** Renaming a file changes nothing of it but this time; with another change its content has to be read again. */
function changeTime(work: Work, { here, id }: OpOf<'move-local'>): bigint | undefined {
  const seen = see(placeOf(work.root, here))
  if (!id || seen?.kind !== 'file') return undefined
  const { ctimeNs } = seen.id
  return sameIdentity(seen.id, { ...id, ctimeNs }) ? ctimeNs : undefined
}
