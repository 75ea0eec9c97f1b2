import { isWithin, type Candidate } from './candidates.ts'
import { speller, type Op, type OpOf, type Place, type PlanInput } from './draft.ts'
import type { Side } from './pairs.ts'
import { shiftMap, shiftTree, type Shifts } from './shift.ts'
import { childOf, nameOf, parentOf, ROOT, type Identity } from './tree.ts'

// Moves as operations, and what each does to the trees that a plan is made from.

export type MoveOp = OpOf<'move-base'> | OpOf<'move-local'> | OpOf<'move-remote'>

export const isMove = (op: Op): op is MoveOp => op.op.startsWith('move-')

/** A move that the server makes and that is not part of a ring: several of them fit into one request. */
export const isSimple = (op: MoveOp): op is OpOf<'move-remote'> => op.op === 'move-remote' && op.cycle === undefined

/** Divides moves, in their order, into those that can share requests and those that cannot. */
export function stretchesOf(ops: readonly MoveOp[]): MoveOp[][] {
  const stretches: MoveOp[][] = []
  for (const op of ops) {
    const last = stretches.at(-1)
    if (last && isSimple(last[0]!) === isSimple(op)) last.push(op)
    else stretches.push([op])
  }
  return stretches
}

/** A move whose turn it is; with the number of its ring, if it is in one. */
export interface Turn {
  move: Candidate
  cycle: number | undefined
}

/** How paths are spelled on both sides at a moment. */
function spelling({ base, local, remote }: PlanInput) {
  const here = speller(local.nodes, remote.nodes, base)
  const there = speller(remote.nodes, local.nodes, base)
  return {
    place: (key: string): Place => ({ key, here: here(key), there: there(key) }),
    /** Where something of one name goes, whatever is called so there now. */
    placeFor: (key: string, name: string): Place => {
      const over = parentOf(key)
      return { key, here: childOf(here(over), name), there: childOf(there(over), name) }
    },
  }
}

/** Lets the server follow a move of this side; `movedThere` is what the server moved itself. */
export function toServer(trees: PlanInput, turn: Turn, movedThere: ReadonlySet<string>): OpOf<'move-remote'> {
  const { place, placeFor } = spelling(trees)
  const { from, to, kind } = turn.move
  const { path } = trees.local.nodes.get(to)!
  const before = trees.base.get(from)
  return {
    op: 'move-remote',
    reason: 'moved_here',
    ...placeFor(to, nameOf(path)),
    here: path,
    from: place(from),
    kind,
    id: idOf(trees, to),
    sha256: before?.kind === 'file' ? before.sha256 : undefined,
    files: filesIn(trees, from),
    kept: deletedIn(trees, trees.remote, turn.move, movedThere),
    cycle: turn.cycle,
  }
}

/** Lets this side follow a move of the server; `movedHere` is what this side moved itself. */
export function fromServer(trees: PlanInput, turn: Turn, movedHere: ReadonlySet<string>): OpOf<'move-local'> {
  const { place, placeFor } = spelling(trees)
  const { from, to, kind } = turn.move
  const { path } = trees.remote.nodes.get(to)!
  return {
    op: 'move-local',
    reason: 'moved_there',
    ...placeFor(to, nameOf(path)),
    there: path,
    from: place(from),
    kind,
    id: idOf(trees, from),
    files: filesIn(trees, from),
    kept: deletedIn(trees, trees.local, turn.move, movedHere),
    cycle: turn.cycle,
    undo: false,
  }
}

/** Takes a move of this side back. */
export function takingBack(trees: PlanInput, { from, to, kind }: Candidate): OpOf<'move-local'> {
  const { place } = spelling(trees)
  return {
    op: 'move-local',
    reason: 'moved_apart',
    ...place(from),
    from: place(to),
    kind,
    id: idOf(trees, to),
    files: filesIn(trees, from),
    kept: [],
    cycle: undefined,
    undo: true,
  }
}

/** Notes a move that both sides made. */
export function noting(trees: PlanInput, { from, to, kind }: Candidate): OpOf<'move-base'> {
  const { place } = spelling(trees)
  return { op: 'move-base', ...place(to), from: place(from), kind }
}

function filesIn({ base }: PlanInput, folder: string): number {
  let count = 0
  for (const [key, { kind }] of base) if (kind === 'file' && isWithin(key, folder)) count += 1
  return count
}

/** Files of a folder that the side that follows has no more, while the one that moved it has them as they were. */
function deletedIn(
  { base, local, remote }: PlanInput,
  other: Side,
  move: Candidate,
  moved: ReadonlySet<string>,
): string[] {
  const { from, to, kind } = move
  if (kind === 'file') return []
  const own: Side = other === local ? remote : local
  const deleted: string[] = []
  for (const [key, before] of base) {
    if (before.kind !== 'file' || !isWithin(key, from) || other.nodes.has(key) || moved.has(key)) continue
    const place = to + key.slice(from.length)
    const now = own.nodes.get(place)
    if (now?.kind === 'file' && now.sha256 === before.sha256) deleted.push(place)
  }
  return deleted.sort()
}

function idOf({ local }: PlanInput, key: string): Identity | undefined {
  const node = local.nodes.get(key)
  return node?.kind === 'file' ? node.id : undefined
}

/** Lets trees follow what was planned: those of the side that does it, and base. */
export function carryOut(trees: PlanInput, planned: readonly MoveOp[]): void {
  const pick = (which: (op: MoveOp) => boolean, path: (op: MoveOp) => string): Shifts =>
    new Map(planned.filter(which).map((op) => [op.from.key, { to: op.key, path: path(op) }]))
  const there = (op: MoveOp): string => op.there
  const { base, local, remote } = trees
  shiftTree(
    remote,
    pick(({ op }) => op === 'move-remote', there),
  )
  shiftTree(
    local,
    pick(
      ({ op }) => op === 'move-local',
      ({ here }) => here,
    ),
  )
  shiftMap(
    base,
    pick((op) => !isUndo(op), there),
  )
  for (const op of planned) {
    makeOver(trees, op)
    if (op.op !== 'move-base') for (const key of op.kept) base.delete(key)
  }
}

const isUndo = (op: MoveOp): boolean => op.op === 'move-local' && op.undo

/** A move makes the folders over its target that are missing. */
function makeOver(trees: PlanInput, op: MoveOp): void {
  const { place } = spelling(trees)
  const { base, local, remote } = trees
  for (let at = parentOf(op.key); at !== ROOT; at = parentOf(at)) {
    const { here, there } = place(at)
    if (op.op === 'move-local' && !local.nodes.has(at)) local.nodes.set(at, { kind: 'dir', path: here })
    if (op.op === 'move-remote' && !remote.nodes.has(at)) remote.nodes.set(at, { kind: 'dir', path: there })
    if (!isUndo(op) && !base.has(at)) base.set(at, { kind: 'dir', path: there })
  }
}
