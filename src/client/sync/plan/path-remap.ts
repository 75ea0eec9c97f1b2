import { childOf, nameOf, parentOf, ROOT, type Tree } from './sync-tree.ts'

/** Moves by old key: the new key and path. Everything below moves along. */
export type PathRemap = ReadonlyMap<string, { to: string; path: string }>

/** The key after a move of it or of a parent; undefined if none applies. */
export function remapKey(key: string, remap: PathRemap): string | undefined {
  for (let at = key; ; at = parentOf(at)) {
    const target = remap.get(at)
    if (target) return target.to + key.slice(at.length)
    if (at === ROOT) return undefined
  }
}

/** Entries affected by moves, with new keys and paths; folders precede their contents. */
export function remapEntries<N extends { path: string }>(
  entries: Iterable<[string, N]>,
  remap: PathRemap,
): { gone: string[]; came: [string, N][] } {
  const gone: string[] = []
  const moved: [string, N][] = []
  for (const [key, node] of entries) {
    const to = remapKey(key, remap)
    if (to === undefined) continue
    gone.push(key)
    moved.push([to, node])
  }
  const roots = new Map([...remap.values()].map(({ to, path }) => [to, path]))
  const paths = new Map<string, string>()
  const came = moved
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, node]): [string, N] => {
      const folder = paths.get(parentOf(key)) ?? parentOf(key)
      const path = roots.get(key) ?? childOf(folder, nameOf(node.path))
      paths.set(key, path)
      return [key, { ...node, path }]
    })
  return { gone, came }
}

/** Moves entries of a map simultaneously, because they can form cycles. */
export function remapMap<N extends { path: string }>(map: Map<string, N>, remap: PathRemap): void {
  const { gone, came } = remapEntries(map, remap)
  for (const key of gone) map.delete(key)
  for (const [key, node] of came) map.set(key, node)
}

export function remapKeys(keys: Set<string>, remap: PathRemap): void {
  const moved = [...keys].flatMap((key): [string, string][] => {
    const to = remapKey(key, remap)
    return to === undefined ? [] : [[key, to]]
  })
  for (const [from] of moved) keys.delete(from)
  for (const [, to] of moved) keys.add(to)
}

/** Applies moves to a tree. */
export function remapTree<N extends { path: string }>(tree: Tree<N>, remap: PathRemap): void {
  remapMap(tree.nodes, remap)
  remapKeys(tree.occupied, remap)
  remapKeys(tree.incomplete, remap)
}
