import type { Op, OpOf } from './draft.ts'
import { download } from './download.ts'
import { downloadAll, downloadGroups } from './download-batch.ts'
import { announced, makeFolder, removeHere, setAside, touch } from './local-changes.ts'
import { foldersOver } from './paths.ts'
import { makeFoldersThere, makeFolderThere, removeAllThere, removeThere } from './remote-changes.ts'
import type { Outcome } from './outcome.ts'
import { makeRunner, sizeOf, together, type Runner } from './runner.ts'
import type { Change } from './state.ts'
import { upload } from './upload.ts'
import { uploadAll, uploadGroups } from './upload-batch.ts'
import type { Work } from './work.ts'

/** Files up to this size, in bytes, travel in company: below it a request costs more than what it carries. */
const SMALL = 256 * 1024
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
    transfer(work, run, of('upload').sort(inOrder), of('download').sort(inOrder)),
    makeFolders(work, run, ownFolders(topDown('make-remote'), of('upload'))),
    run.all(of('touch'), (op) => touch(work, op)),
  ])
  await removeAll(work, run, topDown('remove-local').reverse(), topDown('remove-remote').reverse())
  return run.outcome
}

/** Small files travel in company, as far as the server offers that, and large ones beside them. */
async function transfer(work: Work, run: Runner, up: OpOf<'upload'>[], down: OpOf<'download'>[]): Promise<void> {
  const { limits } = work
  const sent = uploadGroups(work, up, companionSize(up, limits()['sync_upload']))
  const fetched = downloadGroups(work, down, companionSize(down, limits()['sync_download']))
  await together([
    run.grouped(sent.groups, uploadAll(work), (op) => upload(work, op)),
    run.all(sent.rest.sort(smallFirst), (op) => upload(work, op)),
    run.grouped(fetched.groups, downloadAll(work), (op) => download(work, op)),
    run.all(fetched.rest.sort(smallFirst), (op) => download(work, op)),
  ])
}

/** Up to which size, in bytes, files travel in company: where requests are scarce, also those for which it hardly pays otherwise. */
function companionSize(ops: readonly Transfer[], rule: { max: number } | undefined): number {
  const larger = ops.filter((op) => sizeOf(op) > SMALL).length
  return rule && larger > rule.max ? LARGE : SMALL
}

async function makeFolders(work: Work, run: Runner, folders: OpOf<'make-remote'>[]): Promise<void> {
  const groups = chunks(folders, work.offers.files_batch?.operations)
  await run.grouped(groups, makeFoldersThere(work), (op) => makeFolderThere(work, op))
}

/** In groups of at most `size`; without a size each on its own. */
const chunks = <T>(things: readonly T[], size = 1): T[][] =>
  Array.from({ length: Math.ceil(things.length / size) }, (_, at) => things.slice(at * size, (at + 1) * size))

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

type Transfer = OpOf<'upload'> | OpOf<'download'>

/** Folder by folder, which keeps flushing cheap. */
const inOrder = (a: Op, b: Op): number => (a.key < b.key ? -1 : 1)

/** Large files after all others. */
const smallFirst = (a: Transfer, b: Transfer): number =>
  Number(sizeOf(a) >= LARGE) - Number(sizeOf(b) >= LARGE) || inOrder(a, b)

/** The folders that nothing else makes: an upload makes those over it, and so does a folder. */
function ownFolders(folders: OpOf<'make-remote'>[], uploads: readonly OpOf<'upload'>[]): OpOf<'make-remote'>[] {
  const made = new Set([...uploads, ...folders].flatMap(({ key }) => foldersOver(key)))
  return folders.filter(({ key }) => !made.has(key))
}
