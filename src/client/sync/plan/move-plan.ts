import { findMoves, type MoveCandidate } from './rename-candidates.ts'
import { makeWorkingTrees, type BothSides, type WorkingTrees } from './working-trees.ts'
import type { PlanInput } from './plan-builder.ts'
import {
  asMoves,
  feasibleMoves,
  isKnown,
  moveAbove,
  makeExclusion,
  topmostMoves,
  type IsExcluded,
  type Moves,
} from './feasible-moves.ts'
import type { MoveOp } from './move-operations.ts'
import { parentOf, ROOT, isWithin } from './sync-tree.ts'

export interface MovePlan {
  /** In order of execution. */
  ops: MoveOp[]
  /** The trees after these operations. */
  after: PlanInput
}

/** Levels of nested folder moves; deeper ones are left to the rest of the plan. */
const MAX_LEVELS = 200

/**
 * Decides which moves of one side the other follows, so that renames cause no transfers or deletions. If both sides
 * moved the same item, or each into the other, the server decides. Other moves become a deletion and an addition.
 */
export function planMoves(input: PlanInput): MovePlan {
  const working = makeWorkingTrees(input)
  if (input.fold) working.respell()
  const isExcluded = makeExclusion(input.excluded)
  for (let level = 0; level < MAX_LEVELS && planLevel(working, isExcluded); level += 1);
  return { ops: working.ops, after: working.trees() }
}

/** Plans the topmost moves; false if none can be followed. */
function planLevel(working: WorkingTrees, isExcluded: IsExcluded): boolean {
  const trees = working.trees()
  const { base, local, remote, inodes } = trees
  const found = { local: findMoves(base, local, inodes), remote: findMoves(base, remote) }
  if (found.local.length + found.remote.length === 0) return false
  // Folders that seem to have moved into each other would wait forever: their files move one by one.
  return (
    planTopmost(working, isExcluded, found) ||
    planTopmost(working, isExcluded, { local: filesOf(found.local), remote: filesOf(found.remote) })
  )
}

/** Plans the topmost of some moves; false if none can be followed. */
function planTopmost(working: WorkingTrees, isExcluded: IsExcluded, found: BothSides): boolean {
  const trees = working.trees()
  const { base, local, remote } = trees
  const sides = {
    local: { base, own: local, other: remote, isExcluded },
    remote: { base, own: remote, other: local, isExcluded },
  }
  // Items that only moved with their folder were not moved by themselves.
  const ofServer = asMoves(topmostMoves(found.remote)).byFrom
  const both = topmostMoves(found.local).filter(({ from, kind }) => ofServer.get(from)?.kind === kind)
  const isSame = ({ from, to }: MoveCandidate): boolean => ofServer.get(from)!.to === to

  const apart = both.filter((each) => !isSame(each) && canUndo(each, trees, isExcluded))
  if (apart.length > 0) return working.undo(apart)
  const alike = both.filter((each) => each.kind === 'dir' && isSame(each) && isAgreed(each, trees, isExcluded))
  if (alike.length > 0) return working.agree(alike)

  const here = feasibleMoves(except(found.local, found.remote), sides.local)
  const there = feasibleMoves(except(found.remote, found.local), sides.remote)
  const [ofHere, ofThere] = [asMoves(here), asMoves(there)]
  const going = {
    local: feasibleMoves(topmostMoves(here.filter((each) => !dependsOn(each, ofThere))), sides.local),
    remote: feasibleMoves(topmostMoves(there.filter((each) => !dependsOn(each, ofHere))), sides.remote),
  }
  if (going.local.length + going.remote.length > 0) return working.follow(going, found)
  const crossed = here.find((each) => dependsOn(each, ofThere) && canUndo(each, trees, isExcluded))
  return crossed ? working.undo([crossed]) : false
}

const filesOf = (moves: readonly MoveCandidate[]): MoveCandidate[] => moves.filter(({ kind }) => kind === 'file')

/** Moves of items that the other side did not move too. */
function except(moves: readonly MoveCandidate[], others: readonly MoveCandidate[]): MoveCandidate[] {
  const { byFrom } = asMoves(others)
  return moves.filter(({ from }) => !byFrom.has(from))
}

/** Whether the other side moves a parent of a move's source or target: then its paths are about to change. */
const dependsOn = ({ from, to }: MoveCandidate, others: Moves): boolean =>
  [parentOf(from), parentOf(to)].some((folder) => moveAbove(others, folder) !== undefined)

/** Whether a local move can be undone: its target is new to base, and its source path is still free. */
function canUndo({ from, to }: MoveCandidate, { base, local, remote }: PlanInput, isExcluded: IsExcluded): boolean {
  if (base.has(to) || local.nodes.has(from)) return false
  for (let at = parentOf(from); at !== ROOT; at = parentOf(at)) {
    const over = local.nodes.get(at)
    if (over && over.kind !== 'dir') return false
    if (isWithin(at, to)) return false
  }
  return [from, to].every((key) => isKnown(key, local, isExcluded) && isKnown(key, remote, isExcluded))
}

/** Whether both sides have a folder at its new place, and neither at the old one. */
function isAgreed({ from, to }: MoveCandidate, { base, local, remote }: PlanInput, isExcluded: IsExcluded): boolean {
  const moved = [local, remote].every(({ nodes }) => !nodes.has(from) && nodes.get(to)?.kind === 'dir')
  return (
    moved &&
    !base.has(to) &&
    [from, to].every((key) => isKnown(key, local, isExcluded) && isKnown(key, remote, isExcluded))
  )
}
