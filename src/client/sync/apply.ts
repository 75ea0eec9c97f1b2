import pLimit from 'p-limit'
import type { Op, OpOf } from './draft.ts'
import { download } from './download.ts'
import { announced, makeFolder, removeHere, setAside, touch } from './local-changes.ts'
import { makeFolderThere, removeThere } from './remote-changes.ts'
import type { Effect } from './settle.ts'
import type { Change } from './state.ts'
import { foldersOver } from './paths.ts'
import { parentOf, type Skipped } from './tree.ts'
import { upload } from './upload.ts'
import { judge } from './verdict.ts'
import type { Done, Work } from './work.ts'

/** What a plan came to. */
export interface Outcome {
  /** Whether planning anew may get further. */
  again: boolean
  /** Whether the account is not what it was taken for, and has to be asked for again. */
  stale: boolean
  /** What went wrong for good, by key. */
  failed: Map<string, Skipped>
  /** What was not as planned, by key: the next plan decides. */
  changed: Map<string, Skipped>
}

const AT_ONCE = 8
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

const sizeOf = (op: OpOf<'upload'> | OpOf<'download'>): number => (op.op === 'upload' ? op.local.id.size : op.file.size)

/** Folder by folder, which keeps flushing cheap; large files after all others. */
const smallFirst = <O extends OpOf<'upload'> | OpOf<'download'>>(a: O, b: O): number =>
  Number(sizeOf(a) >= LARGE) - Number(sizeOf(b) >= LARGE) || (a.key < b.key ? -1 : 1)

/** The folders that nothing else makes: an upload makes those over it, and so does a folder. */
function ownFolders(folders: OpOf<'make-remote'>[], uploads: readonly OpOf<'upload'>[]): OpOf<'make-remote'>[] {
  const made = new Set([...uploads, ...folders].flatMap(({ key }) => foldersOver(key)))
  return folders.filter(({ key }) => !made.has(key))
}

/** Waits for all of them, whatever becomes of one, so that nothing goes on behind the caller's back. */
async function together(works: Promise<unknown>[]): Promise<void> {
  const results = await Promise.allSettled(works)
  const failed = results.find((result) => result.status === 'rejected')
  if (failed) throw failed.reason as Error
}

type Runner = ReturnType<typeof makeRunner>

/** Does an operation; false when it has become pointless. */
type Act<O extends Op> = (op: O) => Promise<Effect> | Effect | false

function makeRunner(work: Work) {
  const outcome: Outcome = { again: false, stale: false, failed: new Map(), changed: new Map() }
  const stopped = new Map<Op['op'], Skipped['code']>()
  /** Folders in which, or somewhere below which, something was not done. */
  const untidy = { directly: new Set<string>(), below: new Set<string>() }
  let ended: { error: unknown } | undefined

  function notDone(key: string): void {
    untidy.directly.add(parentOf(key))
    for (const folder of foldersOver(key)) untidy.below.add(folder)
  }

  function fail(op: Op, skipped: Skipped): void {
    // A full quota is no sign of trouble with a listing, and deleting is what helps against it.
    if (skipped.code !== 'quota') notDone(op.key)
    outcome.failed.set(op.key, skipped)
  }

  /** Nothing else is begun. */
  const end = (error: unknown): void => void (ended ??= { error })

  function wentWrong(op: Op, error: unknown): void {
    const verdict = judge(error, op)
    if (verdict.kind === 'end') {
      end(error)
      throw error
    }
    if (verdict.kind === 'changed') {
      notDone(op.key)
      outcome.again = true
      outcome.stale ||= verdict.side === 'there'
      outcome.changed.set(op.key, { path: op.here, code: 'busy' })
    } else {
      for (const kind of verdict.stops ?? []) stopped.set(kind, verdict.skipped.code)
      fail(op, verdict.skipped)
    }
  }

  /** Does one operation; what it brought about is recorded in company, and reported only then. */
  async function one<O extends Op>(op: O, act: Act<O>, recording: Promise<void>[]): Promise<void> {
    work.signal.throwIfAborted()
    if (ended) throw ended.error
    const full = stopped.get(op.op)
    if (full) return fail(op, { path: op.here, code: full })
    try {
      const effect = await act(op)
      if (effect) recording.push(work.settle(effect).then(() => finished(op), end))
    } catch (error) {
      work.signal.throwIfAborted()
      wentWrong(op, error)
    }
  }

  function finished(op: Op): void {
    // What made room for something else calls for the plan that puts it there.
    if (op.op === 'set-aside' || op.reason === 'replaced_here' || op.reason === 'replaced_there') outcome.again = true
    work.onDone(doneOf(op))
  }

  async function recorded(recording: Promise<void>[], works: Promise<void>): Promise<void> {
    try {
      await works
    } finally {
      work.settle.flush()
      await Promise.all(recording)
    }
    if (ended) throw ended.error
  }

  return {
    outcome,
    async inOrder<O extends Op>(ops: readonly O[], act: Act<O>): Promise<void> {
      const recording: Promise<void>[] = []
      const works = async (): Promise<void> => {
        for (const op of ops) await one(op, act, recording)
      }
      await recorded(recording, works())
    },
    async all<O extends Op>(ops: readonly O[], act: Act<O>): Promise<void> {
      const recording: Promise<void>[] = []
      const limit = pLimit(AT_ONCE)
      await recorded(recording, together(ops.map((op) => limit(() => one(op, act, recording)))))
    },
    /** Nothing is deleted after the disk was full, nor beside or above what was not done. */
    mayRemove: (key: string): boolean =>
      stopped.size === 0 && !untidy.directly.has(parentOf(key)) && !untidy.below.has(key),
  }
}

function doneOf(op: Op): Done {
  const done: Done = { op: op.op as Done['op'], path: op.here }
  if (op.reason) done.reason = op.reason
  if (op.op === 'upload' || op.op === 'download') done.size = sizeOf(op)
  if (op.op === 'set-aside') done.copy = op.to
  return done
}
