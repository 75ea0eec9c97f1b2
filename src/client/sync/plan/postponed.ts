import {
  parentOf,
  type BaseTree,
  type LocalNode,
  type RemoteNode,
  type Skipped,
  type Tree,
  type Content,
  type Side,
} from './sync-tree.ts'
import type { Place } from './plan-builder.ts'

/** Postponed paths, and those that are synchronised again. */
export interface PostponedPaths {
  keys: Set<string>
  /** Postponed paths that have changed: they are synchronised again. */
  resumed: string[]
  skipped: Skipped[]
}

interface Trees {
  base: BaseTree
  local: Tree<LocalNode>
  remote: Tree<RemoteNode>
}

/** Finds which originals, whose copies an undo removed, are still unchanged and on one side only. */
export function findPostponed(holds: readonly Postponed[], { base, local, remote }: Trees): PostponedPaths {
  const found: PostponedPaths = { keys: new Set(), resumed: [], skipped: [] }
  for (const { key, here, side, what } of holds) {
    const [own, other] = side === 'here' ? [local, remote] : [remote, local]
    const node = own.nodes.get(key)
    const isSame =
      node?.kind === what.kind && (node.kind !== 'file' || what.kind !== 'file' || node.sha256 === what.sha256)
    if (isSame && !base.has(key) && !other.nodes.has(key)) {
      found.keys.add(key)
      found.skipped.push({ path: here, code: 'taken_back' })
    } else found.resumed.push(key)
  }
  // A folder is reported for its contents.
  found.skipped = found.skipped.filter(({ path }) => !found.keys.has(parentOf(path)))
  return found
}

/** A path that an undo removed on one side: runs skip it until it changes on the other. */
export interface Postponed extends Place {
  /** The side that still has it. */
  side: Side
  what: Content
}
