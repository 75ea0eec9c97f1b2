import { lstatSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { Changed } from './changed.ts'
import type { OpOf } from './draft.ts'
import { fetchFile, type Fetched } from './fetch.ts'
import { keepEdit } from './late-edits.ts'
import { placeOf } from './paths.ts'
import { assertFile, assertFolders, placeNew, placeOver, see, trashPlace } from './placing.ts'
import type { Tell } from './runner.ts'
import { identityOf } from './scan.ts'
import type { Effect } from './settle.ts'
import type { Change } from './state.ts'
import type { Identity } from './tree.ts'
import type { Work } from './work.ts'

type Download = OpOf<'download'>

/**
 * Brings a file here: into a temporary file, checked against what was announced and flushed, and only then to its place, where
 * nothing is overwritten but the very file the plan saw. What is replaced goes to the trash.
 */
export async function download(work: Work, op: Download): Promise<Effect> {
  const fetched = await fetchFile(work, op, aim(work, op))
  work.signal.throwIfAborted()
  const told: Effect[] = []
  await placeAll(work, [fetched], (_, share) => {
    if ('error' in share) throw share.error
    told.push(share.effect)
  })
  return told[0]!
}

/** Makes sure that the place of a file is as planned, and returns the mode of the one that it replaces. Throws `Changed`. */
export function aim(work: Pick<Work, 'root'>, op: Download): number | undefined {
  const target = placeOf(work.root, op.here)
  const before = see(target)
  assertFolders(work.root, op.here)
  if (op.over) assertFile(target, op.over)
  else if (before) throw new Changed('here')
  return before?.kind === 'file' ? before.mode : undefined
}

/** Puts fetched files in their places. What is about to be replaced is written down before, for all of them at once. */
export async function placeAll(work: Work, fetched: readonly Fetched[], tell: Tell<Download>): Promise<void> {
  const moves = fetched.map((each): Placing => ({ ...each, trash: undefined, replaced: false }))
  const begun: Change[] = []
  for (const move of moves) {
    const { key, here: path, over } = move.op
    if (!over) continue
    move.trash = trashPlace(work.root, work.run, path)
    begun.push({ begin: { kind: 'replace', key, path, trash: move.trash, size: over.size, mtimeNs: over.mtimeNs } })
  }
  if (begun.length > 0) await work.settle.now({ changes: begun })
  const failed: { op: Download; error: unknown }[] = []
  const undone: Change[] = []
  for (const move of moves) {
    const { op, temporary } = move
    try {
      tell(op, { effect: await place(work, move) })
    } catch (error) {
      failed.push({ op, error })
      undone.push(...forgotten(work, op.key))
      // What was replaced, but not put in order, stays for the next run to see to.
      if (move.trash !== undefined && !move.replaced) undone.push({ end: op.key })
      rmSync(temporary, { force: true })
    }
  }
  if (undone.length > 0) await work.settle.now({ changes: undone })
  for (const { op, error } of failed) tell(op, { error })
}

interface Placing extends Fetched {
  /** Where the file goes that is replaced. */
  trash: string | undefined
  replaced: boolean
}

const forgotten = (work: Pick<Work, 'parts'>, key: string): Change[] => (work.parts.delete(key) ? [{ whole: key }] : [])

async function place(work: Work, move: Placing): Promise<Effect> {
  const { op, temporary, trash, id, at } = move
  const target = placeOf(work.root, op.here)
  assertFolders(work.root, op.here)
  const changes: Change[] = [{ put: op.key, node: { path: op.there, ...op.file } }]
  if (op.over && trash !== undefined) {
    const sound = placeOver(temporary, target, op.over, trash)
    move.replaced = true
    if (!sound) changes.push(await keepEdit(work, op.here, trash))
    changes.push({ end: op.key })
  } else placeNew(temporary, target)
  changes.push(...forgotten(work, op.key))
  const placed = stillThat(target, id)
  if (placed) changes.push({ hash: op.key, hashed: { id: placed, sha256: op.file.sha256, blank: false, at } })
  return { folders: [dirname(target)], changes }
}

/** The identity of a placed file, if it is still the one that was fetched; a hash is remembered only for that. */
function stillThat(target: string, fetched: Identity): Identity | undefined {
  const stats = lstatSync(target, { bigint: true, throwIfNoEntry: false })
  if (!stats?.isFile()) return undefined
  const id = identityOf(stats)
  return id.ino === fetched.ino && id.size === fetched.size && id.mtimeNs === fetched.mtimeNs ? id : undefined
}
