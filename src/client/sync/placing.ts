import { linkSync, lstatSync, mkdirSync, renameSync, rmdirSync, unlinkSync, copyFileSync, constants } from 'node:fs'
import { dirname } from 'node:path'
import { syncFolder } from '../../host/durable.ts'
import { Changed } from './changed.ts'
import { foldersOver, placeOf } from './paths.ts'
import { ownFile } from './root.ts'
import { identityOf } from './scan.ts'
import { sameIdentity, type Identity } from './tree.ts'
import { codeOf } from '../../base/trouble.ts'

// What is done to files here, in single steps that fail rather than overwrite. The steps between a check and its effect are
// synchronous on purpose: nothing else of this process, and as little as possible of others, comes in between.

const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])
const ABSENT = new Set(['ENOENT', 'ENOTDIR'])

/** Whether an error says that a file system makes no hard links (FAT, some network drives), or not of this file. */
export const cannotLink = (error: unknown): boolean => NO_LINKS.has(codeOf(error))

export type Seen = { kind: 'file'; id: Identity; mode: number } | { kind: 'dir' } | { kind: 'other' } | undefined

/** What is at a place now, without following a link; undefined when there is nothing. */
export function see(place: string): Seen {
  try {
    const stats = lstatSync(place, { bigint: true })
    if (stats.isFile()) return { kind: 'file', id: identityOf(stats), mode: Number(stats.mode) & 0o777 }
    return { kind: stats.isDirectory() ? 'dir' : 'other' }
  } catch (error) {
    if (ABSENT.has(codeOf(error))) return undefined
    throw error
  }
}

/** Makes sure that every folder over a path is a folder and no link out of the root. */
export function assertFolders(root: string, path: string): void {
  for (const folder of foldersOver(path)) {
    // A link to a folder is none.
    if (!lstatSync(placeOf(root, folder), { throwIfNoEntry: false })?.isDirectory()) throw new Changed('here')
  }
}

/** Makes sure that there is nothing at a path, because it or a folder over it is gone, and not because a link leads elsewhere. */
export function assertGone(root: string, path: string): void {
  for (const folder of foldersOver(path)) {
    const over = see(placeOf(root, folder))
    if (over?.kind === 'other') throw new Changed('here')
    if (over?.kind !== 'dir') return
  }
  if (see(placeOf(root, path))) throw new Changed('here')
}

export function assertFile(place: string, expected: Identity): void {
  const seen = see(place)
  if (seen?.kind !== 'file' || !sameIdentity(seen.id, expected)) throw new Changed('here')
}

/** The same file as before, written or not: a rename or a link changes only `ctime`. */
const isUntouched = (place: string, { size, mtimeNs, ino }: Identity): boolean => {
  const seen = see(place)
  return seen?.kind === 'file' && seen.id.size === size && seen.id.mtimeNs === mtimeNs && seen.id.ino === ino
}

/** Where something goes that has to leave `path` in this run: the trash keeps the shape of the tree, and begins another one where something is in the way. */
export function trashPlace(root: string, run: string, path: string): string {
  for (let attempt = 1; ; attempt += 1) {
    const place = placeOf(ownFile(root, 'trash', attempt === 1 ? run : `${run}.${attempt}`), path)
    if (see(place)) continue
    try {
      mkdirSync(dirname(place), { recursive: true, mode: 0o700 })
      return place
    } catch (error) {
      if (!['EEXIST', 'ENOTDIR'].includes(codeOf(error))) throw error
    }
  }
}

/** Gives a complete temporary file its name; whatever is there already stays, and is `Changed`. */
export function placeNew(temporary: string, target: string): void {
  if (nameToo(temporary, target)) unlinkSync(temporary)
}

/**
 * Gives a file of the user's another name, which nobody has. What somebody put in its old place at the last moment stays there: the
 * old name is taken away by way of `aside`, a place in the trash.
 */
export function moveFile(from: string, to: string, aside: string): void {
  if (!nameToo(from, to)) return
  renameSync(from, aside)
  const [taken, moved] = [see(aside), see(to)]
  if (taken?.kind === 'file' && moved?.kind === 'file' && taken.id.ino === moved.id.ino) unlinkSync(aside)
  else placeNew(aside, from)
}

/** Gives a file a second name, or, where a file can have only one, that name for its own: then it returns false. */
function nameToo(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw new Changed('here', error)
    if (!cannotLink(error)) throw error
    if (see(to)) throw new Changed('here', error)
    renameSync(from, to)
    return false
  }
}

/**
 * Puts a complete temporary file in the place of the expected one, whose content goes to the trash. False when that was
 * written to at the last moment: then the trash holds an edit.
 */
export function placeOver(temporary: string, target: string, expected: Identity, trash: string): boolean {
  assertFile(target, expected)
  const linked = keepCopy(target, trash)
  if (!isUntouched(target, expected)) {
    unlinkSync(trash)
    throw new Changed('here')
  }
  renameSync(temporary, target)
  return !linked || isUntouched(trash, expected)
}

/** False when a copy had to do, which tells nothing of what happens to the original. */
function keepCopy(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if (!cannotLink(error)) throw error
    copyFileSync(from, to, constants.COPYFILE_EXCL)
    return false
  }
}

/** Moves the expected file to the trash; false when it turns out that it was written to at the last moment. */
export function takeAway(place: string, expected: Identity, trash: string): boolean {
  assertFile(place, expected)
  renameSync(place, trash)
  return isUntouched(trash, expected)
}

/** Removes a folder that is empty; one that is not is `Changed`. */
export function discardFolder(place: string): void {
  try {
    rmdirSync(place)
  } catch (error) {
    if (['ENOTEMPTY', 'EEXIST', 'ENOENT', 'ENOTDIR'].includes(codeOf(error))) throw new Changed('here', error)
    throw error
  }
}

/** Renames within a folder, to a name that nobody has. */
export function renameAside(from: string, to: string): void {
  if (see(to)) throw new Changed('here')
  renameSync(from, to)
}

/** Brings what stood aside to a name that nobody has. A file may be the only one of its content: it keeps its old name until the new one is durable. */
export async function bringBack(aside: string, to: string): Promise<void> {
  const seen = see(aside)
  if (seen?.kind !== 'file') return renameAside(aside, to)
  const live = see(to)
  const isThere = live?.kind === 'file' && live.id.ino === seen.id.ino
  if (!isThere && !nameToo(aside, to)) return
  await syncFolder(dirname(to))
  unlinkSync(aside)
}

/** Removes folders of the trash, and the trash itself, when they hold nothing any more. */
export function tidyTrash(root: string, folder: string): void {
  try {
    for (let at = folder; at !== ownFile(root); at = dirname(at)) rmdirSync(at)
  } catch {
    // The first one that is not empty ends it.
  }
}
