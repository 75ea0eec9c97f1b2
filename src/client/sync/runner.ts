import pLimit from 'p-limit'
import type { Op, OpOf } from './draft.ts'
import type { Effect } from './settle.ts'
import { foldersOver } from './paths.ts'
import { parentOf, type Skipped } from './tree.ts'
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

/** Bytes that a transfer moves. */
export const sizeOf = (op: OpOf<'upload'> | OpOf<'download'>): number =>
  op.op === 'upload' ? op.local.id.size : op.file.size

/** Waits for all of them, whatever becomes of one, so that nothing goes on behind the caller's back. */
export async function together(works: Promise<unknown>[]): Promise<void> {
  const results = await Promise.allSettled(works)
  const failed = results.find((result) => result.status === 'rejected')
  if (failed) throw failed.reason as Error
}

export type Runner = ReturnType<typeof makeRunner>

/** Does an operation; false when it has become pointless. */
type Act<O extends Op> = (op: O) => Promise<Effect> | Effect | false

/** Does operations, and keeps what came of each. */
export function makeRunner(work: Work) {
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
