import { childOf, nameOf, parentOf, ROOT, type Tree } from './tree.ts'

/** Where things went: by the key they had, the key and the path they have now. Everything below goes along. */
export type Shifts = ReadonlyMap<string, { to: string; path: string }>

/** The key of something after a move of it or of a folder above it; undefined when none concerns it. */
export function shiftedKey(key: string, shifts: Shifts): string | undefined {
  for (let at = key; ; at = parentOf(at)) {
    const shift = shifts.get(at)
    if (shift) return shift.to + key.slice(at.length)
    if (at === ROOT) return undefined
  }
}

/** Entries that moves concern, with their new keys and paths; folders come before what they hold. */
export function shiftEntries<N extends { path: string }>(
  entries: Iterable<[string, N]>,
  shifts: Shifts,
): { gone: string[]; came: [string, N][] } {
  const gone: string[] = []
  const moved: [string, N][] = []
  for (const [key, node] of entries) {
    const to = shiftedKey(key, shifts)
    if (to === undefined) continue
    gone.push(key)
    moved.push([to, node])
  }
  const roots = new Map([...shifts.values()].map(({ to, path }) => [to, path]))
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

/** Moves entries of a map, all at once: they may take each other's places. */
export function shiftMap<N extends { path: string }>(map: Map<string, N>, shifts: Shifts): void {
  const { gone, came } = shiftEntries(map, shifts)
  for (const key of gone) map.delete(key)
  for (const [key, node] of came) map.set(key, node)
}

export function shiftKeys(keys: Set<string>, shifts: Shifts): void {
  const moved = [...keys].flatMap((key): [string, string][] => {
    const to = shiftedKey(key, shifts)
    return to === undefined ? [] : [[key, to]]
  })
  for (const [from] of moved) keys.delete(from)
  for (const [, to] of moved) keys.add(to)
}

/** Moves what a tree holds, as the side that it shows did. */
export function shiftTree<N extends { path: string }>(tree: Tree<N>, shifts: Shifts): void {
  shiftMap(tree.nodes, shifts)
  shiftKeys(tree.occupied, shifts)
  shiftKeys(tree.incomplete, shifts)
}
