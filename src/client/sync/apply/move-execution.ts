import type { OpOf } from '../plan/plan-builder.ts'
import { isBatchable, splitByBatchable, type MoveOp } from '../plan/move-operations.ts'
import { assertArrived, changesAfterMoves, moveLocal, moveRemote } from './file-move.ts'
import { makeBatchSender } from './remote-changes.ts'
import { rotateLocal, rotateRemote } from './rename-cycles.ts'
import type { SendBatch, Executor } from './executor.ts'
import { chunks } from './request-schedule.ts'
import type { Effect } from '../state/commit-batcher.ts'
import type { RunContext } from '../run-context.ts'

type MoveRemote = OpOf<'move-remote'>

/** Moves in the order of the plan: each one assumes the earlier ones. */
export async function applyMoves(context: RunContext, run: Executor, ops: readonly MoveOp[]): Promise<void> {
  for (const part of splitByBatchable(ops)) {
    if (part.length < 2 || !part.every(isBatchable))
      await run.groupsInOrder(cyclesOf(part), (cycle) => move(context, cycle))
    else {
      for (const group of chunks(part, context.capabilities.files_batch?.operations)) {
        await run.inBatches([group], moveRemoteBatch(context), (op) => moveRemote(context, op))
      }
    }
  }
}

function cyclesOf(ops: readonly MoveOp[]): MoveOp[][] {
  const cycles: MoveOp[][] = []
  for (const op of ops) {
    const before = cycles.at(-1)?.[0]
    const isNext = before && 'cycle' in before && 'cycle' in op && op.cycle !== undefined && op.cycle === before.cycle
    if (isNext) cycles.at(-1)!.push(op)
    else cycles.push([op])
  }
  return cycles
}

const moveRemoteBatch = (context: RunContext): SendBatch<MoveRemote> => {
  context.assertRoot()
  return makeBatchSender(
    context,
    assertArrived,
    (_, op) => ({ changes: changesAfterMoves(context, [op]) }),
    ({ from, there, sha256 }) => ({
      op: 'move',
      from: from.there,
      to: there,
      ...(sha256 === undefined ? {} : { if_sha256: sha256 }),
    }),
  )
}

async function move(context: RunContext, cycle: readonly MoveOp[]): Promise<Effect> {
  const op = cycle[0]!
  if (op.op === 'move-base') return { changes: [{ remap: [{ from: op.from.key, to: op.key, path: op.there }] }] }
  if (op.op === 'move-local') {
    return op.cycle === undefined ? moveLocal(context, op) : rotateLocal(context, cycle as OpOf<'move-local'>[])
  }
  return op.cycle === undefined ? moveRemote(context, op) : rotateRemote(context, cycle as MoveRemote[])
}
