import type { Candidate } from './candidates.ts'
import type { PlanInput } from './draft.ts'
import { inOrder } from './follow.ts'
import { carryOut, fromServer, noting, takingBack, toServer, type MoveOp, type Turn } from './move-ops.ts'
import { nameOf, type Tree } from './tree.ts'

/** Moves of each side. */
export interface BothSides {
  here: readonly Candidate[]
  there: readonly Candidate[]
}

/** The trees while moves are planned: each operation changes them as it will change the world. */
export interface Desk {
  ops: MoveOp[]
  trees(): PlanInput
  /** Lets the server follow what was moved here, and this side what was moved there; `found` is all that seems to have been moved. */
  follow(going: BothSides, found: BothSides): true
  /** Takes back moves that were made here. */
  undo(moves: readonly Candidate[]): true
  /** Notes what both sides moved to the same place. */
  agree(moves: readonly Candidate[]): true
  /** Where names that differ in case are one name, brings the spelling of both sides together. */
  respell(): void
}

const NONE: ReadonlySet<string> = new Set()

export function makeDesk(input: PlanInput): Desk {
  const ops: MoveOp[] = []
  let trees = input
  let rings = 0

  function plan(planned: readonly MoveOp[]): true {
    const { base, local, remote } = input
    // The caller's trees are copied before they are changed for the first time.
    if (trees === input) trees = { ...input, base: new Map(base), local: copyOf(local), remote: copyOf(remote) }
    carryOut(trees, planned)
    ops.push(...planned)
    return true
  }

  /** Numbers of rings within one call become numbers within the plan. */
  function turns(moves: readonly Candidate[]): Turn[] {
    const before = rings
    return inOrder(moves).map(({ move, ring }) => {
      if (ring === undefined) return { move, cycle: undefined }
      rings = Math.max(rings, before + ring)
      return { move, cycle: before + ring }
    })
  }

  return {
    ops,
    trees: () => trees,
    follow(going, found) {
      const moved = { here: sourcesOf(found.here), there: sourcesOf(found.there) }
      return plan([
        ...turns(going.here).map((turn) => toServer(trees, turn, moved.there)),
        ...turns(going.there).map((turn) => fromServer(trees, turn, moved.here)),
      ])
    },
    undo: (moves) => plan(moves.map((move) => takingBack(trees, move))),
    agree: (moves) => plan(moves.map((move) => noting(trees, move))),
    respell() {
      for (const key of [...input.local.nodes.keys()].sort()) {
        const l = trees.local.nodes.get(key)!
        const r = trees.remote.nodes.get(key)
        if (l.kind === 'other' || l.kind !== r?.kind || input.held?.has(key) || isSpelledAlike(l.path, r.path)) continue
        const move: Candidate = { from: key, to: key, kind: l.kind, sure: true }
        const before = trees.base.get(key)
        // Without a former agreement nobody renamed anything, and the server's spelling stands.
        if (before && isSpelledAlike(before.path, r.path)) plan([toServer(trees, { move, cycle: undefined }, NONE)])
        else plan([fromServer(trees, { move, cycle: (rings += 1) }, NONE)])
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

const sourcesOf = (moves: readonly Candidate[]): Set<string> => new Set(moves.map(({ from }) => from))

const isSpelledAlike = (a: string, b: string): boolean => nameOf(a).normalize('NFC') === nameOf(b).normalize('NFC')
