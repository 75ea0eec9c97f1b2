import type { Op, OpOf } from '../plan/plan-builder.ts'
import { download } from './file-download.ts'
import { downloadBatch } from './download-batch.ts'
import {
  intentsOf,
  makeLocalFolder,
  removalOf,
  removeLocal,
  renameToConflictCopy,
  touch,
  withdraw,
} from './local-changes.ts'
import { applyMoves } from './move-execution.ts'
import { makeRemoteFolders, makeRemoteFolder, removeRemoteBatch, removeRemote } from './remote-changes.ts'
import type { ApplyResult } from './apply-results.ts'
import { makeExecutor, waitForAll, type Executor } from './executor.ts'
import { chunks, schedule } from './request-schedule.ts'
import type { Effect } from '../state/commit-batcher.ts'
import type { Change } from '../state/sync-state.ts'
import { isMove } from '../plan/move-operations.ts'
import { upload } from './file-upload.ts'
import { uploadBatch } from './upload-batch.ts'
import type { RunContext } from '../run-context.ts'

/**
 * Executes a plan: first what makes room, then transfers, and deletions last, from the leaves up, only if nothing
 * failed before. Each operation verifies its preconditions again; changed ones are left to the next plan.
 */
export async function applyPlan(context: RunContext, ops: readonly Op[]): Promise<ApplyResult> {
  const run = makeExecutor(context)
  const of = <K extends Op['op']>(kind: K): OpOf<K>[] => ops.filter((op): op is OpOf<K> => op.op === kind)
  const topDown = <K extends Op['op']>(kind: K): OpOf<K>[] => of(kind).sort((a, b) => (a.key < b.key ? -1 : 1))

  await applyMoves(context, run, ops.filter(isMove))
  const agreed = [...of('record'), ...of('forget')].filter((op) => !run.dependsOnFailedMove(op))
  await context.commit.now({ changes: agreed.map(recorded) })
  await run.inOrder(topDown('set-aside'), (op) => renameToConflictCopy(context, op))
  await run.inOrder(topDown('make-local'), (op) => makeLocalFolder(context, op))
  const { upload: up, download: down, 'make-remote': folders } = schedule(context, ops)
  await waitForAll([
    run.inBatches(up.groups, uploadBatch(context), (op) => upload(context, op)),
    run.all(up.rest, (op) => upload(context, op)),
    run.inBatches(down.groups, downloadBatch(context), (op) => download(context, op)),
    run.all(down.rest, (op) => download(context, op)),
    run.inBatches(folders.groups, makeRemoteFolders(context), (op) => makeRemoteFolder(context, op)),
    run.all(of('touch'), (op) => touch(context, op)),
  ])
  await removeAll(context, run, topDown('remove-local').reverse(), topDown('remove-remote').reverse())
  return run.result
}

async function removeAll(
  context: RunContext,
  run: Executor,
  local: OpOf<'remove-local'>[],
  remote: OpOf<'remove-remote'>[],
): Promise<void> {
  if (local.length > 0) context.assertRoot()
  const removals = new Map(local.filter((op) => run.mayRemove(op.key)).map((op) => [op, removalOf(context, op)]))
  if (removals.size > 0) await context.commit.now(intentsOf([...removals.values()]))
  const removed = new Set<Op>()
  const remove = async (op: OpOf<'remove-local'>): Promise<Effect> => {
    const effect = await removeLocal(context, removals.get(op)!)
    removed.add(op)
    return effect
  }
  try {
    await run.inOrder([...removals.keys()], (op) => run.mayRemove(op.key) && remove(op))
  } finally {
    const left = [...removals.values()].filter(({ op }) => !removed.has(op))
    if (left.length > 0) await context.commit.now(withdraw(left))
  }

  const removable = remote.filter((op) => run.mayRemove(op.key))
  const groups = chunks(
    removable.filter(({ kind }) => kind === 'file'),
    context.capabilities.files_batch?.operations,
  )
  await run.inBatches(groups, removeRemoteBatch(context), (op) => removeRemote(context, op))
  // A folder follows everything in it: the order is already from the leaves up.
  const folders = removable.filter(({ kind }) => kind === 'dir')
  if (context.capabilities.files_batch?.ifEmpty) {
    for (const group of chunks(folders, context.capabilities.files_batch.operations)) {
      const empty = group.filter((op) => run.mayRemove(op.key))
      await run.inBatches([empty], removeRemoteBatch(context), (op) => removeRemote(context, op))
    }
  } else await run.inOrder(folders, (op) => run.mayRemove(op.key) && removeRemote(context, op))
}

const recorded = (op: OpOf<'record'> | OpOf<'forget'>): Change =>
  op.op === 'record' ? { put: op.key, node: op.node } : { drop: op.key }
