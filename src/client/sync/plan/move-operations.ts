import type { MoveCandidate } from './rename-candidates.ts'
import { speller, type Op, type OpOf, type Place, type PlanInput } from './plan-builder.ts'
import type { SideTree } from './rename-matches.ts'
import { remoteName } from './reserved-paths.ts'
import { remapMap, remapTree, type PathRemap } from './path-remap.ts'
import { childOf, nameOf, parentOf, ROOT, type Identity, isWithin } from './sync-tree.ts'

// Moves as operations, and their effect on the trees of the plan.

export type MoveOp = OpOf<'move-base'> | OpOf<'move-local'> | OpOf<'move-remote'>

export const isMove = (op: Op): op is MoveOp => op.op.startsWith('move-')

/** Whether a move can share a request: it is on the server and not part of a cycle. */
export const isBatchable = (op: MoveOp): op is OpOf<'move-remote'> => op.op === 'move-remote' && op.cycle === undefined

/** Splits moves, in order, into those that can share requests and those that cannot. */
export function splitByBatchable(ops: readonly MoveOp[]): MoveOp[][] {
  const stretches: MoveOp[][] = []
  for (const op of ops) {
    const last = stretches.at(-1)
    if (last && isBatchable(last[0]!) === isBatchable(op)) last.push(op)
    else stretches.push([op])
  }
  return stretches
}

/** A move in order, with the number of its cycle if it is part of one. */
export interface OrderedMove {
  move: MoveCandidate
  cycle: number | undefined
}

/** The current spelling of paths on both sides. */
function spelling({ base, local, remote }: PlanInput) {
  const here = speller(local.nodes, remote.nodes, base)
  const there = speller(remote.nodes, local.nodes, base, remoteName)
  return {
    place: (key: string): Place => ({ key, here: here(key), there: there(key) }),
    /** The target for an item of this name, whatever has that path now. */
    placeFor: (key: string, name: string): Place => {
      const over = parentOf(key)
      return { key, here: childOf(here(over), name), there: childOf(there(over), remoteName(name)) }
    },
  }
}

/** The operation that repeats a local move on the server; `movedThere` are items that the server moved itself. */
export function moveOnServer(
  trees: PlanInput,
  ordered: OrderedMove,
  movedThere: ReadonlySet<string>,
): OpOf<'move-remote'> {
  const { place, placeFor } = spelling(trees)
  const { from, to, kind } = ordered.move
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
    kept: deletedIn(trees, trees.remote, ordered.move, movedThere),
    cycle: ordered.cycle,
  }
}

/** The operation that repeats a server's move locally; `movedHere` are items that were moved locally. */
export function moveLocally(
  trees: PlanInput,
  ordered: OrderedMove,
  movedHere: ReadonlySet<string>,
): OpOf<'move-local'> {
  const { place, placeFor } = spelling(trees)
  const { from, to, kind } = ordered.move
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
    kept: deletedIn(trees, trees.local, ordered.move, movedHere),
    cycle: ordered.cycle,
    undo: false,
  }
}

export function undoLocalMove(trees: PlanInput, { from, to, kind }: MoveCandidate): OpOf<'move-local'> {
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

/** Records a move that both sides made. */
export function recordMove(trees: PlanInput, { from, to, kind }: MoveCandidate): OpOf<'move-base'> {
  const { place } = spelling(trees)
  return { op: 'move-base', ...place(to), from: place(from), kind }
}

function filesIn({ base }: PlanInput, folder: string): number {
  let count = 0
  for (const [key, { kind }] of base) if (kind === 'file' && isWithin(key, folder)) count += 1
  return count
}

/** Files of a folder that the following side has lost, while the moving side still has them unchanged. */
function deletedIn(
  { base, local, remote }: PlanInput,
  other: SideTree,
  move: MoveCandidate,
  moved: ReadonlySet<string>,
): string[] {
  const { from, to, kind } = move
  if (kind === 'file') return []
  const own: SideTree = other === local ? remote : local
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

/** Applies planned moves to the trees: of the executing side, and base. */
export function applyMoves(trees: PlanInput, planned: readonly MoveOp[]): void {
  const pick = (which: (op: MoveOp) => boolean, path: (op: MoveOp) => string): PathRemap =>
    new Map(planned.filter(which).map((op) => [op.from.key, { to: op.key, path: path(op) }]))
  const there = (op: MoveOp): string => op.there
  const { base, local, remote } = trees
  remapTree(
    remote,
    pick(({ op }) => op === 'move-remote', there),
  )
  remapTree(
    local,
    pick(
      ({ op }) => op === 'move-local',
      ({ here }) => here,
    ),
  )
  remapMap(
    base,
    pick((op) => !isUndo(op), there),
  )
  for (const op of planned) {
    makeFoldersAbove(trees, op)
    if (op.op !== 'move-base') for (const key of op.kept) base.delete(key)
  }
}

const isUndo = (op: MoveOp): boolean => op.op === 'move-local' && op.undo

/** A move makes the folders over its target that are missing. */
function makeFoldersAbove(trees: PlanInput, op: MoveOp): void {
  const { place } = spelling(trees)
  const { base, local, remote } = trees
  for (let at = parentOf(op.key); at !== ROOT; at = parentOf(at)) {
    const { here, there } = place(at)
    if (op.op === 'move-local' && !local.nodes.has(at)) local.nodes.set(at, { kind: 'dir', path: here })
    if (op.op === 'move-remote' && !remote.nodes.has(at)) remote.nodes.set(at, { kind: 'dir', path: there })
    if (!isUndo(op) && !base.has(at)) base.set(at, { kind: 'dir', path: there })
  }
}
