import { createHash } from 'node:crypto'
import { renameSync } from 'node:fs'
import { dirname } from 'node:path'
import { randomHex } from '../../base/random.ts'
import { iso, type Clock } from '../../base/clock.ts'
import { syncFolder } from '../../host/durable.ts'
import { Changed } from './changed.ts'
import { giveBack, keepEdit } from './late-edits.ts'
import { isLocked } from './lock.ts'
import { deviceLabel, placeOf } from './paths.ts'
import { assertFolders, placeNew, placeOver, renameAside, see, takeAway, trashPlace } from './placing.ts'
import { runName } from './recover.ts'
import { makeGuard, openRoot, ownFile, type Root } from './root.ts'
import { foldsCase } from './scan.ts'
import { openForRun, openToLook } from './session.ts'
import type { Change, State } from './state.ts'
import { keyOf, secondsOf } from './tree.ts'
import type { Work } from './work.ts'

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

/** What a decision works with. */
interface Deciding extends Pick<Work, 'root' | 'device' | 'date' | 'onDone' | 'clock' | 'state'> {
  /** Where what is given up goes. */
  trash: (path: string) => string
}

function decidingOn({ path, registered }: Root, state: State, clock: Clock): Deciding {
  const now = iso(clock.now())
  return {
    root: path,
    state,
    clock,
    device: deviceLabel(registered.device_name),
    date: now.slice(0, 10),
    onDone: () => undefined,
    trash: (given) => trashPlace(path, runName(now, randomHex(2)), given),
  }
}

/**
 * Settles a conflict in the folder; the next run carries it to the server. What is given up goes to `.svc/trash`. Throws `Held` while a
 * run is at work, and `Changed` when something is not as it was. What was written at the last moment into a file that is given up is not:
 * it goes back and is `Changed`, or becomes another conflict copy where the version that is kept has its place by then.
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
    const deciding = decidingOn(root, state, clock)
    assertFolders(root.path, copy)
    assertFolders(root.path, recorded.path)
    const late: Change[] = []
    if (choice === 'mine') {
      // In two steps the path is empty for a moment: then it counts as unknown, never as deleted here.
      const key = keyOf(recorded.path, foldsCase(root.path))
      if (!bothFiles(root.path, copy, recorded.path)) state.commit([{ dropBelow: key }])
      late.push(...(await takeMine(deciding, copy, recorded.path)))
    } else if (choice === 'theirs') await discard(deciding, copy)
    await syncFolder(dirname(placeOf(root.path, copy)))
    state.commit([{ settled: copy }, ...late])
  } finally {
    close()
  }
}

const bothFiles = (root: string, one: string, other: string): boolean =>
  [one, other].every((path) => see(placeOf(root, path))?.kind === 'file')

async function takeMine(deciding: Deciding, copy: string, path: string): Promise<Change[]> {
  const { root, trash } = deciding
  const [from, to] = [placeOf(root, copy), placeOf(root, path)]
  const [mine, theirs] = [see(from), see(to)]
  if (mine?.kind === 'file' && theirs?.kind === 'file') {
    const aside = trash(path)
    return placeOver(from, to, theirs.id, aside) ? [] : [await keepEdit(deciding, path, aside)]
  }
  if (theirs) await discard(deciding, path)
  if (mine?.kind === 'file') placeNew(from, to)
  else renameAside(from, to)
  return []
}

/** Takes a file, or a folder with everything in it, to the trash. */
async function discard(deciding: Deciding, path: string): Promise<void> {
  const { root, state, trash } = deciding
  const place = placeOf(root, path)
  const seen = see(place)
  if (seen?.kind === 'file') {
    const aside = trash(path)
    if (takeAway(place, seen.id, aside)) return
    state.commit(await giveBack(deciding, path, aside))
  } else if (seen?.kind === 'dir') return renameSync(place, trash(path))
  throw new Changed('here')
}
