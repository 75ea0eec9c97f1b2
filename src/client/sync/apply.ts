import type { Op, OpOf } from './draft.ts'
import { download } from './download.ts'
import { announced, makeFolder, removeHere, setAside, touch } from './local-changes.ts'
import { foldersOver } from './paths.ts'
import { makeFolderThere, removeThere } from './remote-changes.ts'
import { makeRunner, sizeOf, together, type Outcome, type Runner } from './runner.ts'
import type { Change } from './state.ts'
import { upload } from './upload.ts'
import type { Work } from './work.ts'

/** From this size on, in bytes, a file waits until the smaller ones are through. */
const LARGE = 8 * 1_048_576

/**
 * Carries a plan out: first what makes room, then transfers, and deletions last, from the leaves up, and only where nothing went
 * wrong before. Each operation checks again what it relies on; what is not so any more is left to the next plan.
 */
export async function apply(work: Work, ops: readonly Op[]): Promise<Outcome> {
  const run = makeRunner(work)
  const of = <K extends Op['op']>(kind: K): OpOf<K>[] => ops.filter((op): op is OpOf<K> => op.op === kind)
  const topDown = <K extends Op['op']>(kind: K): OpOf<K>[] => of(kind).sort((a, b) => (a.key < b.key ? -1 : 1))

  await work.settle.now({ changes: [...of('record'), ...of('forget')].map(recorded) })
  await run.inOrder(topDown('set-aside'), (op) => setAside(work, op))
  await run.inOrder(topDown('make-local'), (op) => makeFolder(work, op))
  await together([
    run.all(of('upload').sort(smallFirst), (op) => upload(work, op)),
    run.all(of('download').sort(smallFirst), (op) => download(work, op)),
    run.all(ownFolders(topDown('make-remote'), of('upload')), (op) => makeFolderThere(work, op)),
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
  const local = here.filter((op) => run.mayRemove(op.key))
  if (local.length > 0) await work.settle.now(announced(local))
  await run.inOrder(local, (op) => run.mayRemove(op.key) && removeHere(work, op))

  const remote = there.filter((op) => run.mayRemove(op.key))
  await run.all(
    remote.filter(({ kind }) => kind === 'file'),
    (op) => removeThere(work, op),
  )
  // A folder after everything in it: the order is from the leaves up already.
  await run.inOrder(
    remote.filter(({ kind }) => kind === 'dir'),
    (op) => run.mayRemove(op.key) && removeThere(work, op),
  )
}

const recorded = (op: OpOf<'record'> | OpOf<'forget'>): Change =>
  op.op === 'record' ? { put: op.key, node: op.node } : { drop: op.key }

/** Folder by folder, which keeps flushing cheap; large files after all others. */
const smallFirst = <O extends OpOf<'upload'> | OpOf<'download'>>(a: O, b: O): number =>
  Number(sizeOf(a) >= LARGE) - Number(sizeOf(b) >= LARGE) || (a.key < b.key ? -1 : 1)

/** The folders that nothing else makes: an upload makes those over it, and so does a folder. */
function ownFolders(folders: OpOf<'make-remote'>[], uploads: readonly OpOf<'upload'>[]): OpOf<'make-remote'>[] {
  const made = new Set([...uploads, ...folders].flatMap(({ key }) => foldersOver(key)))
  return folders.filter(({ key }) => !made.has(key))
}
