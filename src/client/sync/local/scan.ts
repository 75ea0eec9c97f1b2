import { lstatSync, readdirSync, type BigIntStats } from 'node:fs'
import { join } from 'node:path'
import { errorCode } from '../../../base/errors.ts'
import type { IgnoreRules } from './ignore-rules.ts'
import { remoteName, OWN_FOLDER, pathProblem } from '../plan/reserved-paths.ts'
import {
  childOf,
  emptyTree,
  keyOf,
  nameOf,
  parentOf,
  ROOT,
  sharedKey,
  type BaseTree,
  type Identity,
  type LocalNode,
  type SkipCode,
  type Tree,
} from '../plan/sync-tree.ts'
import { toLocalPath } from '../../files/local-path.ts'
import { nameProblem } from '../../files/path-rules.ts'
import { readRules } from './ignore-files.ts'

export interface ScanOptions {
  root: string
  /** Whether the file system ignores case. */
  fold: boolean
  /** Decides which of two spellings of a name is used: the one in base. */
  base: BaseTree
  /** Receives the rules of each folder before its entries are checked. */
  rules: IgnoreRules
  signal?: AbortSignal | undefined
}

/** Unsynchronised items that are folders. */
const FOLDERS = new Set<SkipCode>(['mount', 'nested'])

/** Entries per turn of the event loop. */
const BATCH_SIZE = 500

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Lists a folder without following links or opening files: what is synchronised, what is skipped and why, and where the
 * listing is incomplete. Contents are not read: `sha256` stays undefined.
 */
export async function scan({ root, fold, base, rules, signal }: ScanOptions): Promise<Tree<LocalNode>> {
  const tree = emptyTree<LocalNode>()
  const device = lstatSync(root, { bigint: true }).dev
  const waiting: { path: string; key: string }[] = [{ path: ROOT, key: ROOT }]
  /** Folders with a name that is not UTF-8. */
  const misnamed = new Set<string>()
  let scanned = 0

  for (let folder = waiting.pop(); folder; folder = waiting.pop()) {
    const { path: at, key: folderKey } = folder
    if (!readRules(rules, root, at)) {
      unreadable(tree, folderKey, at, 'EACCES')
      continue
    }
    for (const [key, name] of namesIn(tree, misnamed, { root, fold, base }, at, folderKey)) {
      const own = childOf(at, name)
      // One string for key and path, which are nearly always equal.
      const path = own === key ? key : own
      if (path === `/${OWN_FOLDER}`) continue
      const node = inspect(toLocalPath(root, path), path, device)
      if (!node) continue
      const rule = rules.find(path, node.kind === 'dir' || (node.kind === 'other' && FOLDERS.has(node.code)))
      if (rule) {
        tree.ignored.set(key, { ...rule, path })
        tree.occupied.add(folderKey)
      } else if (node.kind === 'other') {
        tree.nodes.set(key, node)
        // Nothing below was listed: absence proves nothing.
        tree.incomplete.add(key)
        skip(tree, folderKey, path, node.code)
      } else {
        tree.nodes.set(key, node)
        if (node.kind === 'dir') waiting.push({ path, key })
      }
      scanned += 1
      if (scanned % BATCH_SIZE === 0) await new Promise((resolve) => setImmediate(resolve))
      signal?.throwIfAborted()
    }
  }
  // An undecodable name may be a file that seems to be missing beside it, so those absences are uncertain. The rest of
  // the listing is certain.
  if (misnamed.size > 0)
    for (const key of base.keys()) if (misnamed.has(parentOf(key)) && !tree.nodes.has(key)) tree.incomplete.add(key)
  return tree
}

/** Whether the file system of a root ignores case; tests the marker under another name. */
export function foldsCase(root: string): boolean {
  return lstatSync(join(root, OWN_FOLDER, 'ROOT.JSON'), { throwIfNoEntry: false }) !== undefined
}

export const identityOf = (stats: BigIntStats): Identity => ({
  size: Number(stats.size),
  mtimeNs: stats.mtimeNs,
  ctimeNs: stats.ctimeNs,
  ino: stats.ino,
})

function skip(tree: Tree<LocalNode>, folderKey: string, path: string, code: SkipCode, detail?: string): void {
  tree.occupied.add(folderKey)
  tree.skipped.push(detail === undefined ? { path, code } : { path, code, detail })
}

/** Skips the contents of a folder. Unlisted is not empty: nothing below is deleted anywhere. */
function unreadable(tree: Tree<LocalNode>, key: string, path: string, why: string): void {
  tree.incomplete.add(key)
  skip(tree, key, path, 'unreadable', why)
}

/** The names in a folder by key, in a stable order; of two spellings of one name only the agreed one, or the first. */
function namesIn(
  tree: Tree<LocalNode>,
  misnamed: Set<string>,
  { root, fold, base }: Pick<ScanOptions, 'root' | 'fold' | 'base'>,
  path: string,
  key: string,
): Map<string, string> {
  const names: string[] = []
  try {
    // As bytes: a name that is not UTF-8 could not be opened after decoding.
    for (const bytes of readdirSync(toLocalPath(root, path), { encoding: 'buffer' })) {
      const name = decode(bytes)
      if (name === undefined) {
        misnamed.add(key)
        skip(tree, key, childOf(path, bytes.toString('latin1')), 'not_utf8')
      } else names.push(name)
    }
  } catch (error) {
    unreadable(tree, key, path, errorCode(error) || String(error))
    return new Map()
  }
  const byKey = new Map<string, string>()
  for (const name of names.sort()) {
    const childKey = childOf(key, keyOf(name, fold))
    const rival = byKey.get(childKey)
    const known = rival === undefined ? undefined : base.get(childKey)
    const wins = rival === undefined || (known !== undefined && nameOf(known.path) === name)
    if (rival !== undefined) skip(tree, key, childOf(path, wins ? rival : name), 'collision')
    if (wins) byKey.set(sharedKey(base, childKey), name)
  }
  return byKey
}

function decode(bytes: Buffer): string | undefined {
  try {
    return decoder.decode(bytes)
  } catch {
    // Reported by the caller as `not_utf8`.
    return undefined
  }
}

/** The item at a path; undefined if it has disappeared. */
function inspect(place: string, path: string, device: bigint): LocalNode | undefined {
  const other = (code: SkipCode): LocalNode => ({ kind: 'other', path, code })
  const problem = nameProblem(remoteName(nameOf(path))) ?? pathProblem(path)
  if (problem) return other(problem)
  let stats: BigIntStats | undefined
  try {
    stats = lstatSync(place, { bigint: true, throwIfNoEntry: false })
  } catch {
    // The item exists, but its kind is unknown: it is reported and skipped.
    return other('unreadable')
  }
  if (!stats) return undefined
  if (stats.isSymbolicLink()) return other('symlink')
  if (stats.isFile()) return { kind: 'file', path, id: identityOf(stats), sha256: undefined, blank: false }
  if (!stats.isDirectory()) return other('special')
  // Renames cannot cross file systems, and an unmounted one looks like an empty folder.
  if (stats.dev !== device) return other('mount')
  return holdsMarker(place) ? other('nested') : { kind: 'dir', path }
}

function holdsMarker(place: string): boolean {
  try {
    return lstatSync(join(place, OWN_FOLDER, 'root.json'), { throwIfNoEntry: false }) !== undefined
  } catch {
    // `.svc` is not a folder, or the root cannot be entered, which its listing reports.
    return false
  }
}
