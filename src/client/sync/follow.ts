import { isWithin, type Candidate } from './candidates.ts'
import type { Side } from './pairs.ts'
import { isUncertain, parentOf, ROOT, type BaseTree } from './tree.ts'

export interface Sides {
  base: BaseTree
  /** Where the moves were made. */
  own: Side
  /** Which is to follow. */
  other: Side
  held: ReadonlySet<string>
}

/** Moves of one side by the key they begin and end at. */
export interface Moves {
  byFrom: ReadonlyMap<string, Candidate>
  byTo: ReadonlyMap<string, Candidate>
}

export const asMoves = (candidates: readonly Candidate[]): Moves => ({
  byFrom: new Map(candidates.map((each) => [each.from, each])),
  byTo: new Map(candidates.map((each) => [each.to, each])),
})

/** The move, if any, that takes away what a key is or lies in. */
export function leavingOver(moves: Pick<Moves, 'byFrom'>, key: string): Candidate | undefined {
  for (let at = key; at !== ROOT; at = parentOf(at)) {
    const found = moves.byFrom.get(at)
    if (found) return found
  }
  return undefined
}

/**
 * The moves that the other side can follow: it has the source as base knows it, and the target is free there, or is made free
 * by another move of the same kind; and on its own side the source is really gone. Dropping one may make others impossible.
 */
export function feasible(candidates: readonly Candidate[], sides: Sides): Candidate[] {
  const possible = candidates.filter((each) => isPossible(each, sides))
  const { byFrom, byTo } = asMoves(possible) as { byFrom: Map<string, Candidate>; byTo: Map<string, Candidate> }
  const leaning = new Map<string, Candidate[]>()
  for (const each of possible) {
    const over = leavingOver({ byFrom }, each.to)
    if (!over) continue
    const list = leaning.get(over.from)
    if (list) list.push(each)
    else leaning.set(over.from, [each])
  }
  const doubtful = [...possible]
  for (let each = doubtful.pop(); each; each = doubtful.pop()) {
    if (byFrom.get(each.from) !== each || fits(each, { byFrom, byTo }, sides)) continue
    byFrom.delete(each.from)
    byTo.delete(each.to)
    doubtful.push(...(leaning.get(each.from) ?? []))
    const onto = byFrom.get(each.to)
    if (onto) doubtful.push(onto)
  }
  return possible.filter((each) => byFrom.get(each.from) === each)
}

/** What does not depend on other moves. */
function isPossible({ from, to, kind }: Candidate, { base, own, other, held }: Sides): boolean {
  const before = base.get(from)
  const source = other.nodes.get(from)
  if (before?.kind !== kind || source?.kind !== kind) return false
  if (before.kind === 'file' && source.kind === 'file' && source.sha256 !== before.sha256) return false
  for (let at = parentOf(to); at !== ROOT; at = parentOf(at)) {
    const over = other.nodes.get(at)
    if (over && over.kind !== 'dir') return false
  }
  return [from, to].every((key) => isSettled(key, own, held) && isSettled(key, other, held))
}

/** Whether it is certain what a side has at a key, and nothing there is to be left alone. What a folder holds that could not be looked at goes where the folder goes. */
export function isSettled(key: string, side: Side, held: ReadonlySet<string>): boolean {
  return !isUncertain(side, key) && ![...held].some((at) => isWithin(at, key) || isWithin(key, at))
}

function fits({ from, to, kind, sure }: Candidate, moves: Moves, { base, own, other }: Sides): boolean {
  const left = own.nodes.get(from)
  const isGone = !left || left.kind !== kind || (kind === 'file' && sure) || moves.byTo.has(from)
  // A folder that was there before did not come from elsewhere, whatever was moved into it.
  const isFree = !other.nodes.has(to) && (kind === 'file' || !base.has(to))
  return isGone && (isFree || leavingOver(moves, to) !== undefined)
}

/** Leaves out what lies in a folder that moves itself, or goes into one that is only just coming: its turn is next. */
export function topmost(candidates: readonly Candidate[]): Candidate[] {
  const folders = asMoves(candidates.filter(({ kind }) => kind === 'dir'))
  const isCovered = (key: string, roots: ReadonlyMap<string, Candidate>): boolean => {
    for (let at = parentOf(key); at !== ROOT; at = parentOf(at)) if (roots.has(at)) return true
    return false
  }
  return candidates.filter(({ from, to }) => !isCovered(from, folders.byFrom) && !isCovered(to, folders.byTo))
}

/** An order in which every target is free when its turn comes. Moves in a ring share a number: they have to go together. */
export function inOrder(candidates: readonly Candidate[]): { move: Candidate; ring: number | undefined }[] {
  const moves = asMoves(candidates)
  const ordered: { move: Candidate; ring: number | undefined }[] = []
  const done = new Set<Candidate>()
  let rings = 0
  for (const first of candidates) {
    const chain: Candidate[] = []
    let at: Candidate | undefined = first
    while (at && !done.has(at) && !chain.includes(at)) {
      chain.push(at)
      at = leavingOver(moves, at.to)
    }
    const start = at && !done.has(at) ? chain.indexOf(at) : chain.length
    const ring = chain.slice(start)
    if (ring.length > 0) {
      rings += 1
      ordered.push(...ring.map((move) => ({ move, ring: rings })))
    }
    ordered.push(
      ...chain
        .slice(0, start)
        .reverse()
        .map((move) => ({ move, ring: undefined })),
    )
    for (const each of chain) done.add(each)
  }
  return ordered
}
