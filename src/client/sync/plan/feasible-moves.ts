import type { MoveCandidate } from './rename-candidates.ts'
import type { SideTree } from './rename-matches.ts'
import { isUncertain, parentOf, ROOT, type BaseTree } from './sync-tree.ts'

export interface Sides {
  base: BaseTree
  /** The side where the moves were made. */
  own: SideTree
  /** The side that repeats them. */
  other: SideTree
  isExcluded: IsExcluded
}

/** Whether a key is excluded from moves, or lies in or contains something excluded. */
export type IsExcluded = (key: string) => boolean

export function makeExclusion(keys: Iterable<string> = []): IsExcluded {
  const excluded = new Set(keys)
  const parents = new Set<string>()
  for (const key of excluded) for (let at = key; at !== ROOT; at = parentOf(at)) parents.add(at)
  return (key) => {
    if (excluded.size === 0) return false
    if (parents.has(key)) return true
    for (let at = key; at !== ROOT; at = parentOf(at)) if (excluded.has(at)) return true
    return false
  }
}

/** Moves of one side by the key they begin and end at. */
export interface Moves {
  byFrom: ReadonlyMap<string, MoveCandidate>
  byTo: ReadonlyMap<string, MoveCandidate>
}

export const asMoves = (candidates: readonly MoveCandidate[]): Moves => ({
  byFrom: new Map(candidates.map((each) => [each.from, each])),
  byTo: new Map(candidates.map((each) => [each.to, each])),
})

export function moveAbove(moves: Pick<Moves, 'byFrom'>, key: string): MoveCandidate | undefined {
  for (let at = key; at !== ROOT; at = parentOf(at)) {
    const found = moves.byFrom.get(at)
    if (found) return found
  }
  return undefined
}

/**
 * The moves that the other side can follow: it has the source as in base, and the target is free there or made free by
 * another such move; and on its own side the source is really gone. Dropping one can make others impossible.
 */
export function feasibleMoves(candidates: readonly MoveCandidate[], sides: Sides): MoveCandidate[] {
  const possible = candidates.filter((each) => isPossible(each, sides))
  const { byFrom, byTo } = asMoves(possible) as { byFrom: Map<string, MoveCandidate>; byTo: Map<string, MoveCandidate> }
  const dependents = new Map<string, MoveCandidate[]>()
  for (const each of possible) {
    const over = moveAbove({ byFrom }, each.to)
    if (!over) continue
    const list = dependents.get(over.from)
    if (list) list.push(each)
    else dependents.set(over.from, [each])
  }
  const unchecked = [...possible]
  for (let each = unchecked.pop(); each; each = unchecked.pop()) {
    if (byFrom.get(each.from) !== each || isUnblocked(each, { byFrom, byTo }, sides)) continue
    byFrom.delete(each.from)
    byTo.delete(each.to)
    unchecked.push(...(dependents.get(each.from) ?? []))
    const onto = byFrom.get(each.to)
    if (onto) unchecked.push(onto)
  }
  return possible.filter((each) => byFrom.get(each.from) === each)
}

/** The conditions that do not depend on other moves. */
function isPossible({ from, to, kind }: MoveCandidate, { base, own, other, isExcluded }: Sides): boolean {
  const before = base.get(from)
  const source = other.nodes.get(from)
  if (before?.kind !== kind || source?.kind !== kind) return false
  if (before.kind === 'file' && source.kind === 'file' && source.sha256 !== before.sha256) return false
  for (let at = parentOf(to); at !== ROOT; at = parentOf(at)) {
    const over = other.nodes.get(at)
    if (over && over.kind !== 'dir') return false
  }
  return [from, to].every((key) => isKnown(key, own, isExcluded) && isKnown(key, other, isExcluded))
}

/** Whether the content of a key is certain and not excluded. Unreadable entries of a folder move with it. */
export function isKnown(key: string, side: SideTree, isExcluded: IsExcluded): boolean {
  return !isUncertain(side, key) && !isExcluded(key)
}

function isUnblocked({ from, to, kind, sure }: MoveCandidate, moves: Moves, { base, own, other }: Sides): boolean {
  const left = own.nodes.get(from)
  const isGone = !left || left.kind !== kind || (kind === 'file' && sure) || moves.byTo.has(from)
  // A folder that existed before did not come from elsewhere, whatever was moved into it.
  const isFree = !other.nodes.has(to) && (kind === 'file' || !base.has(to))
  return isGone && (isFree || moveAbove(moves, to) !== undefined)
}

/** Drops moves from or into a folder that is moved itself: those are planned on the next level. */
export function topmostMoves(candidates: readonly MoveCandidate[]): MoveCandidate[] {
  const folders = asMoves(candidates.filter(({ kind }) => kind === 'dir'))
  const isCovered = (key: string, roots: ReadonlyMap<string, MoveCandidate>): boolean => {
    for (let at = parentOf(key); at !== ROOT; at = parentOf(at)) if (roots.has(at)) return true
    return false
  }
  return candidates.filter(({ from, to }) => !isCovered(from, folders.byFrom) && !isCovered(to, folders.byTo))
}

/** Orders moves so that every target is free when needed. Moves of a cycle share a number and are executed together. */
export function orderMoves(candidates: readonly MoveCandidate[]): { move: MoveCandidate; cycle: number | undefined }[] {
  const moves = asMoves(candidates)
  const ordered: { move: MoveCandidate; cycle: number | undefined }[] = []
  const done = new Set<MoveCandidate>()
  let cycles = 0
  for (const first of candidates) {
    const links = new Set<MoveCandidate>()
    let at: MoveCandidate | undefined = first
    while (at && !done.has(at) && !links.has(at)) {
      links.add(at)
      at = moveAbove(moves, at.to)
    }
    const chain = [...links]
    const start = at && !done.has(at) ? chain.indexOf(at) : chain.length
    const cycle = chain.slice(start)
    if (cycle.length > 0) {
      cycles += 1
      ordered.push(...cycle.map((move) => ({ move, cycle: cycles })))
    }
    ordered.push(
      ...chain
        .slice(0, start)
        .reverse()
        .map((move) => ({ move, cycle: undefined })),
    )
    for (const each of chain) done.add(each)
  }
  return ordered
}
