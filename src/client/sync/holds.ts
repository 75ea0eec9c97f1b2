import type { Hold } from './state-deeds.ts'
import { parentOf, type BaseTree, type LocalNode, type RemoteNode, type Skipped, type Tree } from './tree.ts'

/** What is held back, and what no longer is. */
export interface HeldBack {
  keys: Set<string>
  /** Holds whose reason is gone: something changed, and it is dealt with like anything else. */
  over: string[]
  skipped: Skipped[]
}

interface Trees {
  base: BaseTree
  local: Tree<LocalNode>
  remote: Tree<RemoteNode>
}

/** Finds out which of the originals whose copies were taken back still are as they were then, on their side alone. */
export function heldBack(holds: readonly Hold[], { base, local, remote }: Trees): HeldBack {
  const held: HeldBack = { keys: new Set(), over: [], skipped: [] }
  for (const { key, here, side, what } of holds) {
    const [own, other] = side === 'here' ? [local, remote] : [remote, local]
    const node = own.nodes.get(key)
    const isSame =
      node?.kind === what.kind && (node.kind !== 'file' || what.kind !== 'file' || node.sha256 === what.sha256)
    if (isSame && !base.has(key) && !other.nodes.has(key)) {
      held.keys.add(key)
      held.skipped.push({ path: here, code: 'taken_back' })
    } else held.over.push(key)
  }
  // A folder speaks for what it holds.
  held.skipped = held.skipped.filter(({ path }) => !held.keys.has(parentOf(path)))
  return held
}
