import { createHash } from 'node:crypto'
import { renameSync } from 'node:fs'
import { dirname } from 'node:path'
import { randomHex } from '../../base/random.ts'
import { iso, type Clock } from '../../base/clock.ts'
import { syncFolder } from '../../host/durable-files.ts'
import { isLocked } from '../../host/file-lock.ts'
import { knownTime } from '../files/modification-time.ts'
import { Changed } from './sync-errors.ts'
import { rescueInPlace, rescueAsConflictCopy } from './local/concurrent-writes.ts'
import {
  assertFolders,
  renameNoReplace,
  replaceFile,
  renameUnlessTaken,
  lstatPath,
  moveToTrash,
} from './local/file-operations.ts'
import { makeGuard, openRoot, ownFile, type Root } from './state/root.ts'
import { foldsCase } from './local/scan.ts'
import { openForRun, openReadOnly } from './state/sync-session.ts'
import type { Change, State } from './state/sync-state.ts'
import { keyOf, secondsOf } from './plan/sync-tree.ts'
import type { RunContext } from './run-context.ts'
import { toLocalPath } from '../files/local-path.ts'
import { deviceLabel } from './plan/conflict-names.ts'
import { trashPath, runName } from './local/local-trash.ts'

/** Which side of a conflict is kept. */
export type Choice = 'mine' | 'theirs' | 'both'

/** The current file or folder. */
export interface Side {
  path: string
  kind: 'file' | 'dir' | 'other'
  size: number | null
  /** Seconds since the epoch. */
  mtime: number | null
}

export interface FileConflict {
  /** Stays the same while the copy keeps its path. */
  id: string
  root: string
  /** Milliseconds since the epoch. */
  at: number
  mine: Side
  /** Null if the path no longer exists. */
  theirs: Side | null
}

const idOf = ({ registered }: Root, copy: string): string =>
  `f${createHash('sha256').update(`${registered.root_id}\n${copy}`).digest('hex').slice(0, 6)}`

function sideOf(root: string, path: string): Side | undefined {
  const seen = lstatPath(toLocalPath(root, path))
  if (!seen) return undefined
  if (seen.kind !== 'file') return { path, kind: seen.kind, size: null, mtime: null }
  return { path, kind: 'file', size: seen.id.size, mtime: knownTime(secondsOf(seen.id.mtimeNs)) ?? null }
}

/** The existing conflict copies of a folder. Throws `Refused` if it is not the folder that was set up. */
export async function listFileConflicts(path: string, stateFolder: string): Promise<FileConflict[]> {
  const root = await openRoot(path, stateFolder)
  const { state, close } = openReadOnly(root, isLocked(ownFile(root.path, 'lock')))
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

/** Deletes records of conflicts whose copy was renamed or removed: that is a decision too. */
export function forgetResolvedConflicts(root: string, state: State): void {
  const gone = state.conflicts().filter(({ copy }) => !lstatPath(toLocalPath(root, copy)))
  state.commit(gone.map(({ copy }) => ({ settled: copy })))
}

interface ResolveOptions {
  stateFolder: string
  clock: Clock
}

/** What a decision works with. */
interface Resolution extends Pick<RunContext, 'root' | 'device' | 'date' | 'onDone' | 'clock' | 'state'> {
  /** Path in the trash for the losing version. */
  trash: (path: string) => string
}

function makeResolution({ path, registered }: Root, state: State, clock: Clock): Resolution {
  const now = iso(clock.now())
  return {
    root: path,
    state,
    clock,
    device: deviceLabel(registered.device_name),
    date: now.slice(0, 10),
    onDone: () => undefined,
    trash: (given) => trashPath(path, runName(now, randomHex(2)), given),
  }
}

/**
 * Resolves a conflict locally; the next run sends the result. The losing version goes to `.svc/trash`. Throws
 * `FolderLocked` during a run, and `Changed` if something has changed. A late write to the losing version is kept: it
 * returns to its path with `Changed`, or becomes another conflict copy if that path is taken.
 */
export async function resolveFileConflict(
  conflict: FileConflict,
  choice: Choice,
  { stateFolder, clock }: ResolveOptions,
): Promise<void> {
  const root = await openRoot(conflict.root, stateFolder)
  const { state, close } = openForRun({ root, dryRun: false, notice: () => undefined })
  try {
    makeGuard(root)()
    const { path: copy } = conflict.mine
    const recorded = state.conflicts().find((each) => each.copy === copy)
    const mine = lstatPath(toLocalPath(root.path, copy))
    if (!recorded || (choice !== 'both' && mine?.kind !== 'file' && mine?.kind !== 'dir')) throw new Changed('local')
    const deciding = makeResolution(root, state, clock)
    assertFolders(root.path, copy)
    assertFolders(root.path, recorded.path)
    const late: Change[] = []
    if (choice === 'mine') {
      // With two steps the path is missing for a moment: then it counts as unknown, never as deleted locally.
      const key = keyOf(recorded.path, foldsCase(root.path))
      if (!bothFiles(root.path, copy, recorded.path)) state.commit([{ dropBelow: key }])
      late.push(...(await keepMine(deciding, copy, recorded.path)))
    } else if (choice === 'theirs') await discard(deciding, copy)
    await syncFolder(dirname(toLocalPath(root.path, copy)))
    state.commit([{ settled: copy }, ...late])
  } finally {
    close()
  }
}

const bothFiles = (root: string, one: string, other: string): boolean =>
  [one, other].every((path) => lstatPath(toLocalPath(root, path))?.kind === 'file')

async function keepMine(deciding: Resolution, copy: string, path: string): Promise<Change[]> {
  const { root, trash } = deciding
  const [from, to] = [toLocalPath(root, copy), toLocalPath(root, path)]
  const [mine, theirs] = [lstatPath(from), lstatPath(to)]
  if (mine?.kind === 'file' && theirs?.kind === 'file') {
    const aside = trash(path)
    return replaceFile(from, to, theirs.id, aside) ? [] : [await rescueAsConflictCopy(deciding, path, aside)]
  }
  if (theirs) await discard(deciding, path)
  if (mine?.kind === 'file') renameNoReplace(from, to)
  else renameUnlessTaken(from, to)
  return []
}

/** Moves a file, or a folder with its contents, to the trash. */
async function discard(deciding: Resolution, path: string): Promise<void> {
  const { root, state, trash } = deciding
  const place = toLocalPath(root, path)
  const seen = lstatPath(place)
  if (seen?.kind === 'file') {
    const aside = trash(path)
    if (moveToTrash(place, seen.id, aside)) return
    state.commit(await rescueInPlace(deciding, path, aside))
  } else if (seen?.kind === 'dir') return renameSync(place, trash(path))
  throw new Changed('local')
}
