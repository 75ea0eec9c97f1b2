import type { Op, OpOf } from './draft.ts'
import { download } from './download.ts'
import { downloadAll } from './download-batch.ts'
import { announced, makeFolder, removalOf, removeHere, setAside, touch } from './local-changes.ts'
import { moveAll } from './move-all.ts'
import { makeFoldersThere, makeFolderThere, removeAllThere, removeThere } from './remote-changes.ts'
import type { Outcome } from './outcome.ts'
import { makeRunner, together, type Runner } from './runner.ts'
import { chunks, schedule } from './schedule.ts'
import type { Change } from './state.ts'
import { isMove } from './move-ops.ts'
import { upload } from './upload.ts'
import { uploadAll } from './upload-batch.ts'
import type { Work } from './work.ts'

/**
 * Carries a plan out: first what makes room, then transfers, and deletions last, from the leaves up, and only where nothing went
 * wrong before. Each operation checks again what it relies on; what is not so any more is left to the next plan.
 */
export async function apply(work: Work, ops: readonly Op[]): Promise<Outcome> {
  const run = makeRunner(work)
  const of = <K extends Op['op']>(kind: K): OpOf<K>[] => ops.filter((op): op is OpOf<K> => op.op === kind)
  const topDown = <K extends Op['op']>(kind: K): OpOf<K>[] => of(kind).sort((a, b) => (a.key < b.key ? -1 : 1))

  await moveAll(work, run, ops.filter(isMove))
  const agreed = [...of('record'), ...of('forget')].filter((op) => !run.isAstray(op))
  await work.settle.now({ changes: agreed.map(recorded) })
  await run.inOrder(topDown('set-aside'), (op) => setAside(work, op))
  await run.inOrder(topDown('make-local'), (op) => makeFolder(work, op))
  const { upload: up, download: down, 'make-remote': folders } = schedule(work, ops)
  await together([
    run.grouped(up.groups, uploadAll(work), (op) => upload(work, op)),
    run.all(up.rest, (op) => upload(work, op)),
    run.grouped(down.groups, downloadAll(work), (op) => download(work, op)),
    run.all(down.rest, (op) => download(work, op)),
    run.grouped(folders.groups, makeFoldersThere(work), (op) => makeFolderThere(work, op)),
    run.all(of('touch'), (op) => touch(work, op)),
  ])
  await removeAll(work, run, topDown('remove-local').reverse(), topDown('remove-remote').reverse())
  return run.outcome
}

async function removeAll(
  work: Work,
  run: Runner,
  here: OpOf<'remove-local'>[],
  there: OpOf<'remove-remote'>[],
): Promise<void> {
  if (here.length > 0) work.assertRoot()
  const local = new Map(here.filter((op) => run.mayRemove(op.key)).map((op) => [op, removalOf(work, op)]))
  if (local.size > 0) await work.settle.now(announced([...local.values()]))
  await run.inOrder([...local.keys()], (op) => run.mayRemove(op.key) && removeHere(work, local.get(op)!))

  const remote = there.filter((op) => run.mayRemove(op.key))
  const groups = chunks(
    remote.filter(({ kind }) => kind === 'file'),
    work.offers.files_batch?.operations,
  )
  await run.grouped(groups, removeAllThere(work), (op) => removeThere(work, op))
  // A folder after everything in it: the order is from the leaves up already.
  const folders = remote.filter(({ kind }) => kind === 'dir')
  if (work.offers.files_batch?.ifEmpty) {
    for (const group of chunks(folders, work.offers.files_batch.operations)) {
      const empty = group.filter((op) => run.mayRemove(op.key))
      await run.grouped([empty], removeAllThere(work), (op) => removeThere(work, op))
    }
  } else await run.inOrder(folders, (op) => run.mayRemove(op.key) && removeThere(work, op))
}

const recorded = (op: OpOf<'record'> | OpOf<'forget'>): Change =>
  op.op === 'record' ? { put: op.key, node: op.node } : { drop: op.key }
