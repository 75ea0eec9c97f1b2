import { createHash } from 'node:crypto'
import { renameSync } from 'node:fs'
import { dirname } from 'node:path'
import { randomHex } from '../../base/random.ts'
import { iso, type Clock } from '../../base/clock.ts'
import { syncFolder } from '../../host/durable.ts'
import { Changed } from './changed.ts'
import { isLocked } from './lock.ts'
import { placeOf } from './paths.ts'
import { assertFolders, discardFile, placeNew, placeOver, renameAside, see, trashPlace } from './placing.ts'
import { runName } from './recover.ts'
import { makeGuard, openRoot, ownFile, type Root } from './root.ts'
import { foldsCase } from './scan.ts'
import { openForRun, openToLook } from './session.ts'
import type { State } from './state.ts'
import { keyOf, secondsOf } from './tree.ts'

/** Which side of a conflict is kept. */
export type Choice = 'mine' | 'theirs' | 'both'

/** A file or folder as it is now. */
export interface Side {
  path: string
  kind: 'file' | 'dir' | 'other'
  size: number | null
  /** Seconds since the epoch. */
  mtime: number | null
}

/** A conflict copy that lies beside the version that the server had. */
export interface FileConflict {
  /** The same as long as the copy is where it is. */
  id: string
  root: string
  /** Milliseconds since the epoch. */
  at: number
  mine: Side
  /** Null when nothing has the name any more. */
  theirs: Side | null
}

const idOf = ({ registered }: Root, copy: string): string =>
  `f${createHash('sha256').update(`${registered.root_id}\n${copy}`).digest('hex').slice(0, 6)}`

function sideOf(root: string, path: string): Side | undefined {
  const seen = see(placeOf(root, path))
  if (!seen) return undefined
  if (seen.kind !== 'file') return { path, kind: seen.kind, size: null, mtime: null }
  return { path, kind: 'file', size: seen.id.size, mtime: secondsOf(seen.id.mtimeNs) }
}

/** The conflict copies of a folder that are still where a run put them. Throws `Refused` when it is not the one that was set up. */
export async function fileConflicts(path: string, stateFolder: string): Promise<FileConflict[]> {
  const root = await openRoot(path, stateFolder)
  const { state, close } = openToLook(root, isLocked(ownFile(root.path, 'lock')))
  try {
    return state.conflicts().flatMap(({ copy, path: original, at }) => {
      const mine = sideOf(root.path, copy)
      if (!mine) return []
      return [{ id: idOf(root, copy), root: root.path, at, mine, theirs: sideOf(root.path, original) ?? null }]
    })
  } finally {
    close()
  }
}

/** Forgets the conflicts whose copy somebody renamed or removed: that is a decision too. */
export function forgetSettled(root: string, state: State): void {
  const gone = state.conflicts().filter(({ copy }) => !see(placeOf(root, copy)))
  state.commit(gone.map(({ copy }) => ({ settled: copy })))
}

interface Settling {
  stateFolder: string
  clock: Clock
}

/**
 * Settles a conflict in the folder; the next run carries it to the server. What is given up goes to `.svc/trash`. Throws `Held` while a
 * run is at work, and `Changed` when something is not as it was.
 */
export async function settleFile(
  conflict: FileConflict,
  choice: Choice,
  { stateFolder, clock }: Settling,
): Promise<void> {
  const root = await openRoot(conflict.root, stateFolder)
  const { state, close } = openForRun({ root, dryRun: false, notice: () => undefined })
  try {
    makeGuard(root)()
    const { path: copy } = conflict.mine
    const recorded = state.conflicts().find((each) => each.copy === copy)
    const mine = see(placeOf(root.path, copy))
    if (!recorded || (choice !== 'both' && mine?.kind !== 'file' && mine?.kind !== 'dir')) throw new Changed('here')
    const trash = (path: string): string => trashPlace(root.path, runName(iso(clock.now()), randomHex(2)), path)
    assertFolders(root.path, copy)
    assertFolders(root.path, recorded.path)
    if (choice === 'mine') {
      // In two steps the path is empty for a moment: then it counts as unknown, never as deleted here.
      const key = keyOf(recorded.path, foldsCase(root.path))
      if (!bothFiles(root.path, copy, recorded.path)) state.commit([{ dropBelow: key }])
      takeMine(root.path, copy, recorded.path, trash)
    } else if (choice === 'theirs') discard(root.path, copy, trash)
    await syncFolder(dirname(placeOf(root.path, copy)))
    state.commit([{ settled: copy }])
  } finally {
    close()
  }
}

const bothFiles = (root: string, one: string, other: string): boolean =>
  [one, other].every((path) => see(placeOf(root, path))?.kind === 'file')

function takeMine(root: string, copy: string, path: string, trash: (path: string) => string): void {
  const [from, to] = [placeOf(root, copy), placeOf(root, path)]
  const [mine, theirs] = [see(from), see(to)]
  if (mine?.kind === 'file' && theirs?.kind === 'file') {
    placeOver(from, to, theirs.id, trash(path))
    return
  }
  if (theirs) discard(root, path, trash)
  if (mine?.kind === 'file') placeNew(from, to)
  else renameAside(from, to)
}

/** Takes a file, or a folder with everything in it, to the trash. */
function discard(root: string, path: string, trash: (path: string) => string): void {
  const place = placeOf(root, path)
  const seen = see(place)
  if (seen?.kind === 'file') discardFile(place, seen.id, trash(path))
  else if (seen?.kind === 'dir') renameSync(place, trash(path))
  else throw new Changed('here')
}
