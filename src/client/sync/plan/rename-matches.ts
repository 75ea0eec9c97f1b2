import { isUncertain, type BaseTree, type LocalNode, type RemoteNode, type Tree } from './sync-tree.ts'

export type SideTree = Tree<LocalNode | RemoteNode>

/** A content that base knows under one key and a side holds under another. */
export interface RenameMatch {
  from: string
  to: string
  /** The file itself was renamed; otherwise only its content matched. */
  sure: boolean
}

const DEEPEST = 64

export type Inodes = Pick<ReadonlyMap<string, bigint>, 'get'>

/** Matches new files with missing ones by inode, unique content, or content and name. Drops ambiguous matches. */
export function matchRenamedFiles(base: BaseTree, side: SideTree, inodes?: Inodes): RenameMatch[] {
  const gone = goneFiles(base, side, inodes)
  if (gone.size === 0) return []
  const arrived = new Map<string, string[]>()
  for (const [key, node] of side.nodes) {
    if (node.kind !== 'file' || node.sha256 === undefined || !gone.has(node.sha256)) continue
    const before = base.get(key)
    if (before?.kind !== 'file' || before.sha256 !== node.sha256) add(arrived, node.sha256, key)
  }
  return [...arrived].flatMap(([sha256, to]) => matchByContent(gone.get(sha256)!, to, side, inodes))
}

/** Keys of files that are no longer at their path, by content. */
function goneFiles(base: BaseTree, side: SideTree, inodes: Inodes | undefined): Map<string, string[]> {
  const gone = new Map<string, string[]>()
  for (const [key, before] of base) {
    if (before.kind !== 'file') continue
    const now = side.nodes.get(key)
    if (now?.kind === 'other' || (!now && isUncertain(side, key))) continue
    if (now?.kind === 'file') {
      const edited = 'id' in now && now.id.ino === inodes?.get(key)
      if (now.sha256 === undefined || now.sha256 === before.sha256 || edited) continue
    }
    add(gone, before.sha256, key)
  }
  return gone
}

function matchByContent(from: string[], to: string[], side: SideTree, inodes: Inodes | undefined): RenameMatch[] {
  const byInode = new Map<bigint, string[]>()
  for (const key of to) {
    const node = side.nodes.get(key)!
    if ('id' in node) byInode.set(node.id.ino, [...(byInode.get(node.id.ino) ?? []), key])
  }
  const left = new Set(to)
  const pairs: RenameMatch[] = []
  const others = from.filter((key) => {
    const found = byInode.get(inodes?.get(key) ?? -1n) ?? []
    // Several names of one file are hard links: the old one is unknown.
    if (found.length !== 1 || !left.delete(found[0]!)) return true
    pairs.push({ from: key, to: found[0]!, sure: true })
    return false
  })
  return [...pairs, ...matchByName(others, [...left], 0)]
}

/** Matches files that are unique on both sides among those whose last `depth` names are equal. */
function matchByName(from: string[], to: string[], depth: number): RenameMatch[] {
  if (from.length === 0 || to.length === 0 || depth > DEEPEST) return []
  if (from.length === 1 && to.length === 1) return [{ from: from[0]!, to: to[0]!, sure: false }]
  const groups = { from: new Map<string, string[]>(), to: new Map<string, string[]>() }
  for (const key of from) add(groups.from, ending(key, depth + 1), key)
  for (const key of to) add(groups.to, ending(key, depth + 1), key)
  return [...groups.from].flatMap(([names, keys]) => matchByName(keys, groups.to.get(names) ?? [], depth + 1))
}

function ending(key: string, names: number): string {
  let at = key.length
  for (let count = 0; count < names && at > 0; count += 1) at = key.lastIndexOf('/', at - 1)
  return key.slice(Math.max(at, 0))
}

function add(lists: Map<string, string[]>, name: string, key: string): void {
  const list = lists.get(name)
  if (list) list.push(key)
  else lists.set(name, [key])
}
