import type { MoveCandidate } from './rename-candidates.ts'
import type { PlanInput } from './plan-builder.ts'
import { orderMoves } from './feasible-moves.ts'
import {
  applyMoves,
  moveLocally,
  recordMove,
  undoLocalMove,
  moveOnServer,
  type MoveOp,
  type OrderedMove,
} from './move-operations.ts'
import { isSamePath, nameOf, type BaseNode, type RemoteNode, type Tree } from './sync-tree.ts'

/** Moves of each side. */
export interface BothSides {
  local: readonly MoveCandidate[]
  remote: readonly MoveCandidate[]
}

/** The trees while moves are planned: each planned operation is applied at once. */
export interface WorkingTrees {
  ops: MoveOp[]
  trees(): PlanInput
  /** Plans that each side follows the moves of the other; `found` is every move detected. */
  follow(going: BothSides, found: BothSides): true
  undo(moves: readonly MoveCandidate[]): true
  /** Records what both sides moved to the same path. */
  agree(moves: readonly MoveCandidate[]): true
  /** On a case-insensitive file system, synchronises the spelling of both sides. */
  respell(): void
}

const NONE: ReadonlySet<string> = new Set()

export function makeWorkingTrees(input: PlanInput): WorkingTrees {
  const ops: MoveOp[] = []
  let trees = input
  let cycles = 0

  function plan(planned: readonly MoveOp[]): true {
    const { base, local, remote } = input
    // The caller's trees are copied before the first change.
    if (trees === input) trees = { ...input, base: new Map(base), local: copyOf(local), remote: copyOf(remote) }
    applyMoves(trees, planned)
    ops.push(...planned)
    return true
  }

  /** Numbers of cycles within one call become numbers within the plan. */
  function inOrder(moves: readonly MoveCandidate[]): OrderedMove[] {
    const before = cycles
    return orderMoves(moves).map(({ move, cycle }) => {
      if (cycle === undefined) return { move, cycle: undefined }
      cycles = Math.max(cycles, before + cycle)
      return { move, cycle: before + cycle }
    })
  }

  return {
    ops,
    trees: () => trees,
    follow(going, found) {
      const moved = { local: sourcesOf(found.local), remote: sourcesOf(found.remote) }
      return plan([
        ...inOrder(going.local).map((ordered) => moveOnServer(trees, ordered, moved.remote)),
        ...inOrder(going.remote).map((ordered) => moveLocally(trees, ordered, moved.local)),
      ])
    },
    undo: (moves) => plan(moves.map((move) => undoLocalMove(trees, move))),
    agree: (moves) => plan(moves.map((move) => recordMove(trees, move))),
    respell() {
      for (const key of [...input.local.nodes.keys()].sort()) {
        const l = trees.local.nodes.get(key)!
        const r = trees.remote.nodes.get(key)
        if (l.kind === 'other' || l.kind !== r?.kind || input.excluded?.has(key) || isSpelledAlike(l.path, r.path))
          continue
        const move: MoveCandidate = { from: key, to: key, kind: l.kind, sure: true }
        const before = trees.base.get(key)
        // Without an earlier agreement nothing was renamed, and the server's spelling is used.
        const isOurs = before?.kind === l.kind && isSpelledAlike(before.path, r.path)
        // A changed remote item is not renamed before its download: the next plan corrects the spelling.
        if (isOurs && !isAsAgreed(before, r)) continue
        if (isOurs) plan([moveOnServer(trees, { move, cycle: undefined }, NONE)])
        else plan([moveLocally(trees, { move, cycle: (cycles += 1) }, NONE)])
      }
    },
  }
}

const copyOf = <N>({ nodes, incomplete, occupied, ignored, skipped }: Tree<N>): Tree<N> => ({
  nodes: new Map(nodes),
  incomplete: new Set(incomplete),
  occupied: new Set(occupied),
  ignored,
  skipped,
})

const sourcesOf = (moves: readonly MoveCandidate[]): Set<string> => new Set(moves.map(({ from }) => from))

const isAsAgreed = (before: BaseNode, r: RemoteNode): boolean =>
  before.kind !== 'file' || (r.kind === 'file' && r.sha256 === before.sha256)

const isSpelledAlike = (a: string, b: string): boolean => isSamePath(nameOf(a), nameOf(b))
