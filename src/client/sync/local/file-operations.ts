import { linkSync, lstatSync, renameSync, rmdirSync, unlinkSync, copyFileSync, constants } from 'node:fs'
import { dirname } from 'node:path'
import { cannotLink, syncFolder } from '../../../host/durable-files.ts'
import { Changed } from '../sync-errors.ts'
import { foldersAbove } from '../plan/reserved-paths.ts'
import { identityOf } from './scan.ts'
import { sameIdentity, type Identity } from '../plan/sync-tree.ts'
import { errorCode } from '../../../base/errors.ts'
import { toLocalPath } from '../../files/local-path.ts'

// File operations in single steps that fail rather than overwrite. The steps between a check and its effect are
// synchronous, so that nothing in this process, and little in others, comes between.

const ABSENT = new Set(['ENOENT', 'ENOTDIR'])

export type PathStat = { kind: 'file'; id: Identity; mode: number } | { kind: 'dir' } | { kind: 'other' } | undefined

/** `lstat` of a path: links are not followed; undefined when nothing exists. */
export function lstatPath(place: string): PathStat {
  try {
    const stats = lstatSync(place, { bigint: true })
    if (stats.isFile()) return { kind: 'file', id: identityOf(stats), mode: Number(stats.mode) & 0o777 }
    return { kind: stats.isDirectory() ? 'dir' : 'other' }
  } catch (error) {
    if (ABSENT.has(errorCode(error))) return undefined
    throw error
  }
}

/** Verifies that every parent of a path is a folder and not a link out of the root. */
export function assertFolders(root: string, path: string): void {
  for (const folder of foldersAbove(path)) {
    // A symbolic link to a folder does not count.
    if (!lstatSync(toLocalPath(root, folder), { throwIfNoEntry: false })?.isDirectory()) throw new Changed('local')
  }
}

/** Verifies that a path does not exist because it or a parent was removed, and not because of a link. */
export function assertGone(root: string, path: string): void {
  for (const folder of foldersAbove(path)) {
    const over = lstatPath(toLocalPath(root, folder))
    if (over?.kind === 'other') throw new Changed('local')
    if (over?.kind !== 'dir') return
  }
  if (lstatPath(toLocalPath(root, path))) throw new Changed('local')
}

export function assertFile(place: string, expected: Identity): void {
  const seen = lstatPath(place)
  if (seen?.kind !== 'file' || !sameIdentity(seen.id, expected)) throw new Changed('local')
}

/** The same file, unmodified: a rename or a link changes only `ctime`. */
const isUntouched = (place: string, { size, mtimeNs, ino }: Identity): boolean => {
  const seen = lstatPath(place)
  return seen?.kind === 'file' && seen.id.size === size && seen.id.mtimeNs === mtimeNs && seen.id.ino === ino
}

/** Renames a complete temporary file without replacing anything; throws `Changed` when the target exists. */
export function renameNoReplace(temporary: string, target: string): void {
  if (linkOrRename(temporary, target)) unlinkSync(temporary)
}

/** Renames a file. A file that appears at its old path at the last moment stays; the old name is removed through `aside`. */
export function moveFile(from: string, to: string, aside: string): void {
  if (!linkOrRename(from, to)) return
  renameSync(from, aside)
  const [taken, moved] = [lstatPath(aside), lstatPath(to)]
  if (taken?.kind === 'file' && moved?.kind === 'file' && taken.id.ino === moved.id.ino) unlinkSync(aside)
  else renameNoReplace(aside, from)
}

/** Links a file to a second name. Where the file system has no hard links, renames it and returns false. */
function linkOrRename(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if (errorCode(error) === 'EEXIST') throw new Changed('local', error)
    if (!cannotLink(error)) throw error
    if (lstatPath(to)) throw new Changed('local', error)
    renameSync(from, to)
    return false
  }
}

/**
 * Replaces the expected file with a complete temporary one and moves its content to the trash. False if it was written
 * to at the last moment: then the trash holds an edit.
 */
export function replaceFile(temporary: string, target: string, expected: Identity, trash: string): boolean {
  assertFile(target, expected)
  const linked = linkOrCopy(target, trash)
  if (!isUntouched(target, expected)) {
    unlinkSync(trash)
    throw new Changed('local')
  }
  renameSync(temporary, target)
  return !linked || isUntouched(trash, expected)
}

/** False if the file was copied instead of linked: later writes to the original do not show in a copy. */
function linkOrCopy(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if (!cannotLink(error)) throw error
    copyFileSync(from, to, constants.COPYFILE_EXCL)
    return false
  }
}

/** Moves the expected file to the trash; false if it was written to concurrently. */
export function moveToTrash(place: string, expected: Identity, trash: string): boolean {
  assertFile(place, expected)
  renameSync(place, trash)
  return isUntouched(trash, expected)
}

/** Removes an empty folder; throws `Changed` when it is not empty. */
export function removeEmptyFolder(place: string): void {
  try {
    rmdirSync(place)
  } catch (error) {
    if (['ENOTEMPTY', 'EEXIST', 'ENOENT', 'ENOTDIR'].includes(errorCode(error))) throw new Changed('local', error)
    throw error
  }
}

/** Renames within a folder; throws `Changed` when the target exists. */
export function renameUnlessTaken(from: string, to: string): void {
  if (lstatPath(to)) throw new Changed('local')
  renameSync(from, to)
}

/** Moves out of the trash or a staging name. A file may be the only copy: it keeps its old name until the new is durable. */
export async function restoreFile(aside: string, to: string): Promise<void> {
  const seen = lstatPath(aside)
  if (seen?.kind !== 'file') return renameUnlessTaken(aside, to)
  const live = lstatPath(to)
  const isThere = live?.kind === 'file' && live.id.ino === seen.id.ino
  if (!isThere && !linkOrRename(aside, to)) return
  await syncFolder(dirname(to))
  unlinkSync(aside)
}
