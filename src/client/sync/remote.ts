import { contract } from '../../contract/contract.ts'
import { readJson } from '../answers.ts'
import type { Api } from '../api.ts'
import { Unreachable } from '../trouble.ts'
import type { IgnoreRules } from './ignore-rules.ts'
import type { Pace } from './pace.ts'
import { isOwn, isSafePath, resemblesOwn, unrepresentable } from './paths.ts'
import type { Remembered } from './state-remote.ts'
import {
  emptyTree,
  keyOf,
  parentOf,
  ROOT,
  type BaseNode,
  type BaseTree,
  type RemoteFile,
  type RemoteNode,
  type SkipCode,
  type Skipped,
  type Tree,
} from './tree.ts'

const { manifest } = contract.syncFiles.actions

export type Listed = Exclude<RemoteNode, { kind: 'other' }>

/** The account's files as the server listed them, every entry checked. */
export interface Listing {
  nodes: Iterable<Listed>
  /** Entries that no sound server sends; with any of them the listing counts as incomplete. */
  rejected: Skipped[]
  cursor: number
  epoch: string
  server_id: string
}

type Fetched = { unchanged: true } | { unchanged: false; etag: string | undefined; listing: Listing }

/** Asks for the listing; a server that says that nothing changed since `remembered` sends none. */
export async function fetchListing(
  api: Api,
  pace: Pace,
  remembered: Remembered | undefined,
  signal?: AbortSignal,
): Promise<Fetched> {
  return pace(manifest, async () => {
    const headers = remembered ? { 'if-none-match': remembered.etag } : {}
    const answer = await api.receive(manifest, {}, { headers, ...(signal ? { signal } : {}) })
    if (answer.status === 304) {
      if (remembered) return { unchanged: true }
      throw new Unreachable(
        `${api.url} answered 304 to a question that asked for everything: check what stands between.`,
      )
    }
    const document = await readJson(answer, api.url)
    return { unchanged: false, etag: answer.headers['etag'], listing: readListing(document, api.url) }
  })
}

/** Takes a manifest apart. A document that is none is an error, never an empty account. */
function readListing(document: Record<string, unknown>, from: string): Listing {
  const { ok, files, directories = [], cursor, epoch = '', server_id = '' } = document
  const sound = ok === true && Array.isArray(files) && Array.isArray(directories)
  if (!sound || typeof epoch !== 'string' || typeof server_id !== 'string') {
    throw new Unreachable(`${from} answered with a listing that is none: check the address.`)
  }
  const rejected: Skipped[] = []
  const seen = new Map<string, Listed>()
  for (const entry of files) {
    const file = toFile(entry)
    if (!file || seen.has(file.path)) rejected.push({ path: pathIn(entry), code: 'bad_path' })
    else seen.set(file.path, file)
  }
  const folders = directories.flatMap((path: unknown) => {
    if (isSafePath(path)) return [path]
    rejected.push({ path: pathIn({ path }), code: 'bad_path' })
    return []
  })
  const implied = new Set(folders)
  for (const path of [...seen.keys(), ...folders]) {
    for (let at = parentOf(path); at !== ROOT && !implied.has(at); at = parentOf(at)) implied.add(at)
  }
  for (const path of implied) {
    if (seen.get(path)?.kind === 'file') rejected.push({ path, code: 'bad_path' })
    else seen.set(path, { kind: 'dir', path })
  }
  return {
    nodes: { [Symbol.iterator]: () => seen.values() },
    rejected: uniqueByPath(rejected),
    cursor: typeof cursor === 'number' ? cursor : 0,
    epoch,
    server_id,
  }
}

const uniqueByPath = (skipped: Skipped[]): Skipped[] => [...new Map(skipped.map((each) => [each.path, each])).values()]

const pathIn = (entry: unknown): string => String((entry as { path?: unknown } | null)?.path).slice(0, 1_000)

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

function toFile(entry: unknown): RemoteFile | undefined {
  if (typeof entry !== 'object' || entry === null) return undefined
  const { path, size, sha256, mtime } = entry as Record<string, unknown>
  const sound = isSafePath(path) && isCount(size) && isCount(mtime) && typeof sha256 === 'string'
  return sound && /^[0-9a-f]{64}$/.test(sha256) ? { kind: 'file', path, size, sha256, mtime } : undefined
}

interface BuildOptions {
  fold: boolean
  /** Decides which of two names that are one name here is taken: the one agreed on before. */
  base: BaseTree
  rules?: Pick<IgnoreRules, 'find'>
  platform?: NodeJS.Platform
}

/** Makes a tree of a listing, leaving out what cannot be on this machine. */
export function buildRemote(
  { nodes, rejected }: Pick<Listing, 'nodes' | 'rejected'>,
  { fold, base, rules, platform }: BuildOptions,
): Tree<RemoteNode> {
  const tree = emptyTree<RemoteNode>()
  tree.skipped.push(...rejected)
  if (rejected.length > 0) tree.incomplete.add(ROOT)
  const leaveOut = (path: string, code: SkipCode): void => {
    tree.occupied.add(keyOf(parentOf(path), fold))
    tree.skipped.push({ path, code })
  }
  for (const node of inOrder(nodes, { fold, base })) {
    const { path } = node
    if (isOwn(path)) continue
    const over = tree.nodes.get(keyOf(parentOf(path), fold))
    // Below something left out, which was reported itself.
    if (parentOf(path) !== ROOT && (over?.kind !== 'dir' || over.path !== parentOf(path))) continue
    const known = base.get(keyOf(path, fold))
    // One text for both, where they are the same.
    const key = known?.path === path && !fold ? known.path : keyOf(path, fold)
    const rule = rules?.find(path, node.kind === 'dir')
    if (rule) {
      tree.ignored.set(key, { ...rule, path })
      tree.occupied.add(keyOf(parentOf(path), fold))
      continue
    }
    const trouble = resemblesOwn(path) ? 'reserved' : unrepresentable(path, platform)
    if (tree.nodes.has(key)) leaveOut(path, 'collision')
    else if (trouble) {
      tree.nodes.set(key, { kind: 'other', path, code: trouble })
      tree.incomplete.add(key)
      leaveOut(path, trouble)
    } else tree.nodes.set(key, node)
  }
  return tree
}

/** A folder always before what it holds, whatever was agreed on; then what was agreed on before what was not. What is as base has it is base's own node. */
function inOrder(nodes: Iterable<Listed>, { fold, base }: Pick<BuildOptions, 'fold' | 'base'>): Listed[] {
  const levels: Record<'agreed' | 'other', Listed[]>[] = []
  for (const node of nodes) {
    const known = base.get(keyOf(node.path, fold))
    const level = (levels[depthOf(node.path)] ??= { agreed: [], other: [] })
    if (known?.path === node.path) level.agreed.push(isSame(known, node) ? known : node)
    else level.other.push(node)
  }
  const byPath = (a: Listed, b: Listed): number => (a.path < b.path ? -1 : 1)
  return levels.flatMap(({ agreed, other }) => [...agreed.sort(byPath), ...other.sort(byPath)])
}

function depthOf(path: string): number {
  let depth = 0
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) depth += 1
  return depth
}

const isSame = (a: BaseNode, b: Listed): boolean =>
  a.kind === 'file' && b.kind === 'file'
    ? a.sha256 === b.sha256 && a.size === b.size && a.mtime === b.mtime
    : a.kind === b.kind
