import { findMoves, isWithin, type Candidate } from './candidates.ts'
import { makeDesk, type BothSides, type Desk } from './desk.ts'
import type { PlanInput } from './draft.ts'
import { asMoves, feasible, isSettled, leavingOver, topmost, type Moves } from './follow.ts'
import type { MoveOp } from './move-ops.ts'
import { parentOf, ROOT } from './tree.ts'

export interface MovePlan {
  /** In the order in which they are to be done. */
  ops: MoveOp[]
  /** The trees as they are once that is done. */
  after: PlanInput
}

/** Folders within folders are sorted out one level after another; what lies deeper is left to the rest of the plan. */
const LEVELS = 200

/**
 * Decides which moves of one side the other follows, so that nothing is transferred or deleted that only has another name.
 * Where both sides moved the same thing, or one thing into another crosswise, the server decides. What cannot be followed is
 * left to the rest of the plan, for which it is one thing that came and another that went.
 */
export function planMoves(input: PlanInput): MovePlan {
  const desk = makeDesk(input)
  if (input.fold) desk.respell()
  for (let level = 0; level < LEVELS && oneLevel(desk); level += 1);
  return { ops: desk.ops, after: desk.trees() }
}

/** Plans the topmost moves there are; false when there is none that can be followed. */
function oneLevel(desk: Desk): boolean {
  const trees = desk.trees()
  const { base, local, remote, inodes } = trees
  const found = { here: findMoves(base, local, inodes), there: findMoves(base, remote) }
  if (found.here.length + found.there.length === 0) return false
  // Folders that seem to have gone into each other keep each other waiting for ever: their files go one by one.
  return bring(desk, found) || bring(desk, { here: filesOf(found.here), there: filesOf(found.there) })
}

/** Plans the topmost of some moves; false when none of them can be followed. */
function bring(desk: Desk, found: BothSides): boolean {
  const trees = desk.trees()
  const { base, local, remote, held = new Set() } = trees
  const sides = {
    here: { base, own: local, other: remote, held },
    there: { base, own: remote, other: local, held },
  }
  // What only goes along with its folder was not moved by itself.
  const ofServer = asMoves(topmost(found.there)).byFrom
  const both = topmost(found.here).filter(({ from, kind }) => ofServer.get(from)?.kind === kind)
  const isSame = ({ from, to }: Candidate): boolean => ofServer.get(from)!.to === to

  const apart = both.filter((each) => !isSame(each) && canUndo(each, trees))
  if (apart.length > 0) return desk.undo(apart)
  const alike = both.filter((each) => each.kind === 'dir' && isSame(each) && isAgreed(each, trees))
  if (alike.length > 0) return desk.agree(alike)

  const here = feasible(except(found.here, found.there), sides.here)
  const there = feasible(except(found.there, found.here), sides.there)
  const [ofHere, ofThere] = [asMoves(here), asMoves(there)]
  const going = {
    here: feasible(topmost(here.filter((each) => !waits(each, ofThere))), sides.here),
    there: feasible(topmost(there.filter((each) => !waits(each, ofHere))), sides.there),
  }
  if (going.here.length + going.there.length > 0) return desk.follow(going, found)
  const crossed = here.find((each) => waits(each, ofThere) && canUndo(each, trees))
  return crossed ? desk.undo([crossed]) : false
}

const filesOf = (moves: readonly Candidate[]): Candidate[] => moves.filter(({ kind }) => kind === 'file')

/** Moves of what the other side did not move too. */
function except(moves: readonly Candidate[], others: readonly Candidate[]): Candidate[] {
  const { byFrom } = asMoves(others)
  return moves.filter(({ from }) => !byFrom.has(from))
}

/** Whether the other side moves a folder that a move begins or ends in: then its places will soon have other names. */
const waits = ({ from, to }: Candidate, others: Moves): boolean =>
  [parentOf(from), parentOf(to)].some((folder) => leavingOver(others, folder) !== undefined)

/** Whether a move of the user's can be taken back: what was moved is new where it is, and nothing took its old place. */
function canUndo({ from, to }: Candidate, { base, local, remote, held = new Set() }: PlanInput): boolean {
  if (base.has(to) || local.nodes.has(from)) return false
  for (let at = parentOf(from); at !== ROOT; at = parentOf(at)) {
    const over = local.nodes.get(at)
    if (over && over.kind !== 'dir') return false
    if (isWithin(at, to)) return false
  }
  return [from, to].every((key) => isSettled(key, local, held) && isSettled(key, remote, held))
}

/** Whether both sides have a folder at its new place, and neither at the old one. */
function isAgreed({ from, to }: Candidate, { base, local, remote, held = new Set() }: PlanInput): boolean {
  const moved = [local, remote].every(({ nodes }) => !nodes.has(from) && nodes.get(to)?.kind === 'dir')
  return (
    moved && !base.has(to) && [from, to].every((key) => isSettled(key, local, held) && isSettled(key, remote, held))
  )
}
