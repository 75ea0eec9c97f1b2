// Three trees are compared: base (what both sides last agreed on), local (this folder) and remote (the account).
// Paths begin with `/`. A tree is keyed by `keyOf` its paths, so that two spellings of one name meet under one key.

/** A file as both sides can say it: content and modification time in whole seconds. */
export interface FileState {
  kind: 'file'
  sha256: string
  size: number
  mtime: number
}

/** What both sides held at their last agreement; `path` as the server spells it. */
export type BaseNode = { path: string } & (FileState | { kind: 'dir' })

/** What tells one state of a local file from another without reading it. */
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
  /** Undefined while nothing depends on it: a file that neither base nor remote knows. */
  sha256: string | undefined
  /** Not one byte other than zero. */
  blank: boolean
}

export interface LocalFolder {
  kind: 'dir'
  path: string
}

/** Something that is there but is not synchronised, so nothing may be put in its place or deleted because of it. */
export interface Other {
  kind: 'other'
  path: string
  code: SkipCode
}

export type LocalNode = LocalFile | LocalFolder | Other
export type RemoteFile = { path: string } & FileState
export type RemoteNode = RemoteFile | { kind: 'dir'; path: string } | Other

export type BaseTree = Map<string, BaseNode>

/** The rule by which something is ignored: its file as a path of the tree, and the line as it stands there. */
export interface IgnoredBy {
  file: string
  /** From 1; 0 for a rule that is always there. */
  line: number
  pattern: string
}

/** Something that is ignored, with everything below it. */
export interface Ignored extends IgnoredBy {
  path: string
}

export interface Tree<N> {
  nodes: Map<string, N>
  /** Keys at and below which the listing may lack something: absence there proves nothing. */
  incomplete: Set<string>
  /** Folders that hold something unsynchronised and therefore stay. */
  occupied: Set<string>
  /** What rules ignore, by key; what lies below is not listed. */
  ignored: Map<string, Ignored>
  /** What was left out, and why. */
  skipped: Skipped[]
}

export const emptyTree = <N>(): Tree<N> => ({
  nodes: new Map(),
  incomplete: new Set(),
  occupied: new Set(),
  ignored: new Map(),
  skipped: [],
})

/** Why something is not synchronised; the words for people stand beside each. */
export const skipCodes = {
  symlink: 'is a symbolic link; links are not synchronised',
  special: 'is neither a file nor a folder',
  mount: 'is on another file system',
  nested: 'is a synchronised folder of its own',
  unreadable: 'cannot be read',
  busy: 'keeps changing; it is taken up by a later run',
  not_utf8: 'has a name that is not UTF-8; files that are missing beside it are not deleted on the server',
  bad_name: 'has a name that the server does not take',
  too_deep: 'lies too deep, or its path is too long, for the server',
  reserved: 'is a name that the server keeps for itself',
  collision: 'differs from another name only in spelling (upper and lower case, or Unicode form)',
  not_here: 'has a name that cannot exist on this machine',
  bad_path: 'is a path that a sound server does not send',
  in_the_way: 'cannot be brought here: something that is not synchronised has its place',
  kept: 'was deleted on the other side, but holds something that is not synchronised',
  damaged: 'was empty after a crash and is fetched again; what was found is in .svc/trash',
  corrupt: 'arrived with other content than announced',
  taken_back: 'was taken back by an undo: it stays on one side until it changes',
  quota: 'does not fit into the storage quota',
  refused: 'was refused by the server',
  read_only: 'waits here: the server takes no changes at the moment',
  no_space: 'was not transferred: the disk is full',
  rows_unsound: 'were left alone: no sound server sends such rows',
  rows_waiting: 'wait here: the server takes no changes of rows at the moment',
  failed: 'failed',
} as const

export type SkipCode = keyof typeof skipCodes

/** One skipped path, for the report. */
export interface Skipped {
  path: string
  code: SkipCode
  /** What the machine or the server said, where that says more. */
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

/** Whether two paths are one on the server, which keeps each name as it was first written. */
export const isSamePath = (a: string, b: string): boolean => keyOf(a, false) === keyOf(b, false)

/**
 * Full case folding, as file systems that take names in any case do it (Unicode 5.18.4): upper case knows no context and makes "ß" "SS"
 * and "ς" "Σ"; the dotless "ı" stays apart from "i".
 */
const foldCase = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^ı]+/g, (part) => part.toUpperCase())
    .normalize('NFC')

/** A key as the text that base holds already, if it does: trees have very many. */
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

/** Whole seconds, rounded down, as the wire has them. */
export const secondsOf = (ns: bigint): number =>
  Number(ns / 1_000_000_000n) - (ns < 0n && ns % 1_000_000_000n !== 0n ? 1 : 0)

/** What something holds: a file's content, or that it is a folder. */
export type Content = FileState | { kind: 'dir' }

/** One of both sides: this folder, or the account. */
export type Side = 'here' | 'there'

/** Whether a key is another or lies below it. */
export const isWithin = (key: string, folder: string): boolean => key === folder || key.startsWith(`${folder}/`)
