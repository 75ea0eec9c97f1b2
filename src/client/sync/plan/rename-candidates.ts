import { matchRenamedFiles, type Inodes, type RenameMatch, type SideTree } from './rename-matches.ts'
import { nameOf, parentOf, ROOT, type BaseTree, isWithin } from './sync-tree.ts'

/** A move that one side seems to have made; whether the other can follow is decided later. */
export interface MoveCandidate {
  from: string
  to: string
  kind: 'file' | 'dir'
  /** Whether the item itself was renamed (same inode); otherwise only its content matched. */
  sure: boolean
}

/** The moves of one side since the last agreement, folders before files, in an order that depends only on keys. */
export function findMoves(base: BaseTree, side: SideTree, inodes?: Inodes): MoveCandidate[] {
  const pairs = matchRenamedFiles(base, side, inodes).sort(byFrom)
  if (pairs.length === 0) return []
  const folders = folderMoves(base, side, pairs)
  const files = pairs.map((pair): MoveCandidate => ({ ...pair, kind: 'file' }))
  return [...folders, ...files].filter(({ from, to }) => !isWithin(from, to) && !isWithin(to, from))
}

const byFrom = (a: { from: string }, b: { from: string }): number => (a.from < b.from ? -1 : 1)

type Votes = Map<string, Map<string, number>>

/** Folders of which nothing is left, and most of whose files went to one other folder under the same names. */
function folderMoves(base: BaseTree, side: SideTree, pairs: readonly RenameMatch[]): MoveCandidate[] {
  const votes: Votes = new Map()
  for (const { from, to } of pairs) {
    for (const [old, fresh] of foldersOf(from, to)) {
      const targets = votes.get(old) ?? new Map<string, number>()
      votes.set(old, targets.set(fresh, (targets.get(fresh) ?? 0) + 1))
    }
  }
  const { totals, staying } = countFiles(base, side, votes)
  const claims = new Map<string, { from: string; count: number }>()
  for (const [from, targets] of [...votes].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const [to, count] = [...targets].reduce((best, each) => (isBetter(each, best) ? each : best))
    if (base.get(from)?.kind !== 'dir' || staying.has(from) || count * 2 < totals.get(from)!) continue
    if (count > (claims.get(to)?.count ?? 0)) claims.set(to, { from, count })
  }
  const moves = [...claims].map(([to, { from }]): MoveCandidate => ({ from, to, kind: 'dir', sure: false }))
  const tangled = overlappingFolders(new Map(moves.map((each) => [each.from, each.to])), pairs)
  return moves.filter(({ from }) => !tangled.has(from)).sort(byFrom)
}

/** Folders whose move would leave a file above or below its own target: their files move one by one. */
function overlappingFolders(folders: ReadonlyMap<string, string>, pairs: readonly RenameMatch[]): Set<string> {
  const knotted = new Set<string>()
  for (const { from, to } of pairs) {
    for (let at = parentOf(from); at !== ROOT; at = parentOf(at)) {
      const target = folders.get(at)
      if (target === undefined) continue
      const landing = target + from.slice(at.length)
      if (landing !== to && (isWithin(landing, to) || isWithin(to, landing))) knotted.add(at)
    }
  }
  return knotted
}

const isBetter = ([to, count]: [string, number], [bestTo, best]: [string, number]): boolean =>
  count > best || (count === best && to < bestTo)

/** All pairs of folders below which a file has the same relative path before and after. */
function* foldersOf(from: string, to: string): Generator<[string, string]> {
  let [a, b] = [from, to]
  while (nameOf(a) === nameOf(b)) {
    a = parentOf(a)
    b = parentOf(b)
    if (a === b || a === ROOT || b === ROOT) return
    yield [a, b]
  }
}

/** Number of base files below each of some folders, and which of these still hold an unmoved file. */
function countFiles(base: BaseTree, side: SideTree, folders: ReadonlyMap<string, unknown>) {
  const totals = new Map<string, number>()
  const staying = new Set<string>()
  if (folders.size === 0) return { totals, staying }
  for (const [key, before] of base) {
    if (before.kind !== 'file') continue
    const now = side.nodes.get(key)
    const stays = now?.kind === 'file' && now.sha256 === before.sha256
    for (let at = parentOf(key); at !== ROOT; at = parentOf(at)) {
      if (!folders.has(at)) continue
      totals.set(at, (totals.get(at) ?? 0) + 1)
      if (stays) staying.add(at)
    }
  }
  return { totals, staying }
}
