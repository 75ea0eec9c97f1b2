import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { Changed } from './changed.ts'
import type { OpOf } from './draft.ts'
import { openExpected } from './hashing.ts'
import { giveBack } from './late-edits.ts'
import { placeOf } from './paths.ts'
import { codeOf } from '../../base/trouble.ts'
import { assertFile, assertFolders, discardFolder, renameAside, see, takeAway, trashPlace } from './placing.ts'
import { identityOf } from './scan.ts'
import type { Effect } from './settle.ts'
import type { Change } from './state.ts'
import { secondsOf } from './tree.ts'
import type { Work } from './work.ts'

/**
 * Renames the local side of a conflict to its own name. What base says of the path is forgotten first: should the run end in
 * between, the path counts as unknown, never as deleted here (owncloud/client#2428).
 */
export async function setAside(work: Work, op: OpOf<'set-aside'>): Promise<Effect> {
  const from = placeOf(work.root, op.here)
  const to = placeOf(work.root, op.to)
  const conflict = { copy: op.to, path: op.here, at: work.clock.now() }
  await work.settle.now({ changes: [{ dropBelow: op.key }, { conflict }] })
  if (op.id) {
    // The copy is all there is of this edit: it must not be lost with the power.
    const file = await openExpected(from, op.id)
    try {
      await file.sync()
    } finally {
      await file.close()
    }
  }
  assertFolders(work.root, op.here)
  if (op.id) assertFile(from, op.id)
  else if (see(from)?.kind !== 'dir') throw new Changed('here')
  renameAside(from, to)
  return { folders: [dirname(to)], changes: [] }
}

export function makeFolder(work: Work, op: OpOf<'make-local'>): Effect {
  assertFolders(work.root, op.here)
  const place = placeOf(work.root, op.here)
  try {
    mkdirSync(place)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
    if (see(place)?.kind !== 'dir') throw new Changed('here', error)
  }
  return { folders: [dirname(place)], changes: [{ put: op.key, node: { kind: 'dir', path: op.there } }] }
}

/** Gives a file the server's modification time; its content is the same on both sides. */
export async function touch(work: Work, op: OpOf<'touch'>): Promise<Effect> {
  assertFolders(work.root, op.here)
  const at = work.clock.now()
  const file = await openExpected(placeOf(work.root, op.here), op.id)
  const changes: Change[] = [{ put: op.key, node: { path: op.there, ...op.file } }]
  try {
    if (op.file.mtime > 0) await file.utimes(at / 1_000, op.file.mtime)
    const id = identityOf(await file.stat({ bigint: true }))
    // Only what still is what it was, but for the time that was just given to it.
    const untouched = id.size === op.id.size && (op.file.mtime === 0 || secondsOf(id.mtimeNs) === op.file.mtime)
    if (untouched) changes.push({ hash: op.key, hashed: { id, sha256: op.file.sha256, blank: false, at } })
  } finally {
    await file.close()
  }
  return { changes }
}

/** A deletion here, with the place in the trash where a file goes. */
export interface Removal {
  op: OpOf<'remove-local'>
  trash: string | undefined
}

export const removalOf = ({ root, run }: Pick<Work, 'root' | 'run'>, op: OpOf<'remove-local'>): Removal => ({
  op,
  trash: op.id && trashPlace(root, run, op.here),
})

/**
 * Says beforehand what is about to be deleted here, so that a run that is cut off does not pass for a user who deleted it, and
 * what was written at the last moment is not forgotten in the trash.
 */
export const announced = (removals: readonly Removal[]): Effect => ({
  changes: removals.map(({ op: { key, here, id }, trash }) => {
    const file = id && trash !== undefined ? { file: { trash, size: id.size, mtimeNs: id.mtimeNs } } : {}
    return { begin: { kind: 'remove', key, path: here, ...file } }
  }),
})

/** Takes away what was deleted on the server: files go to the trash, folders only when empty. */
export async function removeHere(work: Work, { op, trash }: Removal): Promise<Effect> {
  assertFolders(work.root, op.here)
  const place = placeOf(work.root, op.here)
  const folders = [dirname(place)]
  if (!op.id || trash === undefined) discardFolder(place)
  else if (!takeAway(place, op.id, trash)) {
    // Named durably before anything is said of it.
    await work.settle.now({ folders, changes: [...(await giveBack(work, op.here, trash)), { end: op.key }] })
    throw new Changed('here')
  }
  return { folders, changes: [{ drop: op.key }, { end: op.key }] }
}
