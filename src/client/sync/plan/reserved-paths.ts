import { keyOf, parentOf, ROOT, type SkipCode } from './sync-tree.ts'
import { MAX_BYTES, MAX_SEGMENTS, MAX_SEGMENT_BYTES, isTooLong } from '../../files/path-rules.ts'

/** The engine's own folder, in the root of the synchronised folder; not part of either tree. */
export const OWN_FOLDER = '.svc'

/** Prefix of staging names; not part of either tree. */
export const TEMPORARY = '.svc-tmp-'

/** A local name as the server accepts it: a decomposed name may be too long unless it is composed (NFC). */
export const remoteName = (name: string): string => (isTooLong(name, MAX_SEGMENT_BYTES) ? name.normalize('NFC') : name)

/** Why the server does not accept a local path with valid names, or undefined if it does. */
export function pathProblem(path: string): SkipCode | undefined {
  const isTop = parentOf(path) === ROOT
  if (isTop && (resemblesOwn(path) || keyOf(path, true) === keyOf('/Teamchat', true))) return 'reserved'
  return isTooLong(path, MAX_BYTES) || path.split('/').length - 1 > MAX_SEGMENTS ? 'too_deep' : undefined
}

export const isOwn = (path: string): boolean => path.slice(1).split('/', 1)[0] === OWN_FOLDER

/**
 * Whether some file system takes the path's first name for the engine's own folder: other case, invisible characters,
 * trailing dots (as in CVE-2014-9390).
 */
export function resemblesOwn(path: string): boolean {
  const name = path.slice(1).split('/', 1)[0]!
  const plain = name
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .replace(/[. ]+$/, '')
    .toLowerCase()
  return plain === OWN_FOLDER || /^svc~\d$/.test(plain)
}

/** Every folder a path lies in, the root's child first. */
export function foldersAbove(path: string): string[] {
  const folders: string[] = []
  for (let at = parentOf(path); at !== '/'; at = parentOf(at)) folders.unshift(at)
  return folders
}

/** Files with this name hold ignore rules, in the syntax of `.gitignore`. */
export const IGNORE_FILE = '.svcignore'
