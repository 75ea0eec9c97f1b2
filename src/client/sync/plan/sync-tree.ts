// Three trees are compared: base (what both sides last agreed on), local (this folder) and remote (the account).
// Paths begin with `/`. A tree is keyed by `keyOf` its paths, so that two spellings of one name meet under one key.

/** A file as both sides represent it: content and modification time in whole seconds. */
export interface FileState {
  kind: 'file'
  sha256: string
  size: number
  mtime: number
}

/** What both sides held at the last agreement; `path` in the server's spelling. */
export type BaseNode = { path: string } & (FileState | { kind: 'dir' })

/** Distinguishes states of a local file without reading it. */
export interface Identity {
  size: number
  mtimeNs: bigint
  ctimeNs: bigint
  ino: bigint
}

export interface LocalFile {
  kind: 'file'
  path: string
  id: Identity
  /** Undefined if no decision depends on it: a file unknown to base and remote. */
  sha256: string | undefined
  /** All bytes are zero. */
  blank: boolean
}

export interface LocalFolder {
  kind: 'dir'
  path: string
}

/** An item that is not synchronised, so nothing may replace it or be deleted because of it. */
export interface Other {
  kind: 'other'
  path: string
  code: SkipCode
}

export type LocalNode = LocalFile | LocalFolder | Other
export type RemoteFile = { path: string } & FileState
export type RemoteNode = RemoteFile | { kind: 'dir'; path: string } | Other

export type BaseTree = Map<string, BaseNode>

/** The rule that ignores an item: its file as a path of the tree, and its line. */
export interface IgnoredBy {
  file: string
  /** From 1; 0 for a built-in rule. */
  line: number
  pattern: string
}

/** An ignored item, with everything below it. */
export interface Ignored extends IgnoredBy {
  path: string
}

export interface Tree<N> {
  nodes: Map<string, N>
  /** Keys at and below which the listing may be incomplete: absence proves nothing there. */
  incomplete: Set<string>
  /** Folders that hold something unsynchronised and therefore stay. */
  occupied: Set<string>
  /** Ignored items by key; nothing below them is listed. */
  ignored: Map<string, Ignored>
  /** Skipped items and reasons. */
  skipped: Skipped[]
}

export const emptyTree = <N>(): Tree<N> => ({
  nodes: new Map(),
  incomplete: new Set(),
  occupied: new Set(),
  ignored: new Map(),
  skipped: [],
})

/** Why something is not synchronised, with the text for users. */
export const skipCodes = {
  symlink: 'is a symbolic link; links are not synchronised',
  special: 'is neither a file nor a folder',
  mount: 'is on another file system',
  nested: 'is another synchronised folder',
  unreadable: 'cannot be read',
  busy: 'keeps changing; a later run synchronises it',
  not_utf8: 'has a name that is not UTF-8; missing files beside it are not deleted on the server',
  bad_name: 'has a name that the server does not accept',
  too_deep: 'is too deep, or its path is too long, for the server',
  reserved: 'has a name that the server reserves',
  collision: 'differs from another name only in spelling (upper and lower case, or Unicode form)',
  not_here: 'has a name that cannot exist on this machine',
  bad_path: 'is a path that no valid server sends',
  in_the_way: 'cannot be downloaded: something that is not synchronised has its path',
  kept: 'was deleted on the other side, but contains something that is not synchronised',
  damaged: 'was empty after a crash and is downloaded again; what was found is in .svc/trash',
  corrupt: 'arrived with content other than announced',
  taken_back: 'was removed by an undo: it stays on one side until it changes',
  quota: 'does not fit into the storage quota',
  refused: 'was refused by the server',
  read_only: 'is queued: the server is read-only right now',
  no_space: 'was not transferred: the disk is full',
  rows_unsound: 'were skipped: no valid server sends such rows',
  rows_waiting: 'are queued: the server accepts no changes of rows right now',
  failed: 'failed',
} as const

export type SkipCode = keyof typeof skipCodes

/** What is never synchronised, whatever happens: it is reported once. */
export const isNeverSynchronised = ({ code }: { code: SkipCode }): boolean => code === 'symlink' || code === 'special'

export interface Skipped {
  path: string
  code: SkipCode
  /** A more specific message of the machine or the server. */
  detail?: string
}

/**
 * The key of a path: names that differ only in Unicode normal form are one name, and with `fold` also those that differ only in case.
 * Every map of paths and every comparison across trees uses it, never a path as one side spells it.
 */
export function keyOf(path: string, fold: boolean): string {
  const normal = path.normalize('NFC')
  return fold ? foldCase(normal) : normal
}

/** Whether two paths are equal on the server, which keeps the first spelling of a name. */
export const isSamePath = (a: string, b: string): boolean => keyOf(a, false) === keyOf(b, false)

/**
 * Full case folding as in case-insensitive file systems (Unicode 5.18.4): upper case without context maps "ß" to "SS"
 * and "ς" to "Σ"; the dotless "ı" stays distinct from "i".
 */
const foldCase = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^ı]+/g, (part) => part.toUpperCase())
    .normalize('NFC')

/** Reuses the key string of base: trees are large. */
export function sharedKey(base: BaseTree, key: string): string {
  const path = base.get(key)?.path
  return path === key ? path : key
}

export const ROOT = '/'

/** The folder a path or key lies in; the root lies in itself. */
export const parentOf = (path: string): string => path.slice(0, Math.max(1, path.lastIndexOf('/')))

export const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

export const childOf = (folder: string, name: string): string => (folder === ROOT ? `/${name}` : `${folder}/${name}`)

/** Whether `key` lies strictly below `folder`. */
export const isBelow = (key: string, folder: string): boolean =>
  folder === ROOT ? key !== ROOT : key.length > folder.length && key.startsWith(folder) && key[folder.length] === '/'

/** Whether the absence of `key` proves nothing. */
export function isUncertain(tree: Tree<unknown>, key: string): boolean {
  if (tree.incomplete.size === 0) return false
  for (let at = key; ; at = parentOf(at)) {
    if (tree.incomplete.has(at)) return true
    if (at === ROOT) return false
  }
}

export const sameIdentity = (a: Identity, b: Identity): boolean =>
  a.size === b.size && a.mtimeNs === b.mtimeNs && a.ctimeNs === b.ctimeNs && a.ino === b.ino

export const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

/** Whole seconds, rounded down, as in the API. */
export const secondsOf = (ns: bigint): number =>
  Number(ns / 1_000_000_000n) - (ns < 0n && ns % 1_000_000_000n !== 0n ? 1 : 0)

export type Content = FileState | { kind: 'dir' }

/** One of both sides: this folder, or the account. */
export type Side = 'here' | 'there'

/** Whether a key is another or lies below it. */
export const isWithin = (key: string, folder: string): boolean => key === folder || key.startsWith(`${folder}/`)
