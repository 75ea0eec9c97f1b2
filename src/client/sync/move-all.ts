import type { OpOf } from './draft.ts'
import { isSimple, stretchesOf, type MoveOp } from './move-ops.ts'
import { assertArrived, followed, moveHere, moveThere } from './moving.ts'
import { carry } from './remote-changes.ts'
import { rotateHere, rotateThere } from './ring.ts'
import type { Carry, Runner } from './runner.ts'
import { chunks } from './schedule.ts'
import type { Effect } from './settle.ts'
import type { Work } from './work.ts'

type MoveThere = OpOf<'move-remote'>

/** Moves in the order of the plan: each was planned for a world in which those before it are done. */
export async function moveAll(work: Work, run: Runner, ops: readonly MoveOp[]): Promise<void> {
  for (const stretch of stretchesOf(ops)) {
    if (stretch.length < 2 || !stretch.every(isSimple))
      await run.groupsInOrder(ringsOf(stretch), (ring) => move(work, ring))
    else {
      for (const group of chunks(stretch, work.offers.files_batch?.operations)) {
        await run.grouped([group], moveAllThere(work), (op) => moveThere(work, op))
      }
    }
  }
}

/** Puts those together that take each other's places. */
function ringsOf(ops: readonly MoveOp[]): MoveOp[][] {
  const rings: MoveOp[][] = []
  for (const op of ops) {
    const before = rings.at(-1)?.[0]
    const isNext = before && 'cycle' in before && 'cycle' in op && op.cycle !== undefined && op.cycle === before.cycle
    if (isNext) rings.at(-1)!.push(op)
    else rings.push([op])
  }
  return rings
}

const moveAllThere = (work: Work): Carry<MoveThere> => {
  work.assertRoot()
  return carry(
    work,
    assertArrived,
    (_, op) => ({ changes: followed(work, [op]) }),
    ({ from, there, sha256 }) => ({
      op: 'move',
      from: from.there,
      to: there,
      ...(sha256 === undefined ? {} : { if_sha256: sha256 }),
    }),
  )
}

async function move(work: Work, ring: readonly MoveOp[]): Promise<Effect> {
  const op = ring[0]!
  if (op.op === 'move-base') return { changes: [{ shift: [{ from: op.from.key, to: op.key, path: op.there }] }] }
  if (op.op === 'move-local') {
    return op.cycle === undefined ? moveHere(work, op) : rotateHere(work, ring as OpOf<'move-local'>[])
  }
  return op.cycle === undefined ? moveThere(work, op) : rotateThere(work, ring as MoveThere[])
}
