import pLimit from 'p-limit'
import { journalEntriesOf } from '../state/journal-entries.ts'
import type { Op, OpOf } from '../plan/plan-builder.ts'
import type { Effect } from '../state/commit-batcher.ts'
import { makeResults } from './apply-results.ts'
import { isMove } from '../plan/move-operations.ts'
import type { Change } from '../state/sync-state.ts'
import type { Done, RunContext } from '../run-context.ts'

const CONCURRENCY = 8
/** Batches sent concurrently. */
const GROUP_CONCURRENCY = 2

/** Bytes that an operation transfers. */
export const sizeOf = (op: OpOf<'upload'> | OpOf<'download'>): number =>
  op.op === 'upload' ? op.local.id.size : op.file.size

/** Waits for all, whatever their results, so that nothing runs on in the background. */
export async function waitForAll(works: Promise<unknown>[]): Promise<void> {
  const results = await Promise.allSettled(works)
  const failed = results.find((result) => result.status === 'rejected')
  if (failed) throw failed.reason as Error
}

export type Executor = ReturnType<typeof makeExecutor>

/** Executes an operation; false if it has become unnecessary. */
type Run<O extends Op> = (op: O) => Promise<Effect> | Effect | false

export type OperationResult = { effect: Effect } | { error: unknown }

/** Sends a batch and reports a result for each operation; those without a result are sent one by one. */
export type SendBatch<O extends Op> = (ops: readonly O[], onResult: OnResult<O>) => Promise<void>
/** Commits in progress. */
type Recording = Promise<void>[]

export type OnResult<O extends Op> = (op: O, result: OperationResult) => void

/** Decides whether operations may start, commits their effects, and ends the run on fatal errors. */
function makeRecorder(context: RunContext) {
  const results = makeResults()
  let ended: { error: unknown } | undefined

  /** Starts no further operation. */
  const end = (error: unknown): void => void (ended ??= { error })
  const assertRunning = (): void => {
    if (ended) throw ended.error
  }
  /** Journal entries are committed before the changes that they describe. */
  function newEntries(ops: readonly Op[], { changes }: Effect): Change[] {
    if (!context.journaling) return []
    const puts = changes.flatMap((change) => ('put' in change ? [change] : []))
    // A cycle of moves is journaled with its first move.
    const entries = ops.flatMap((op, at) => journalEntriesOf(op, at === 0 ? puts : []))
    return entries.map((entry) => ({ entry, run: context.run, at: context.clock.now() }))
  }

  return {
    results,
    end,
    assertRunning,
    fail(op: Op, error: unknown): void {
      if (results.recordError(op, error)) return
      end(error)
      throw error
    },
    /** Whether an operation may start; throws when the run has ended. */
    canStart(op: Op): boolean {
      context.signal.throwIfAborted()
      assertRunning()
      return results.canStart(op)
    },
    record: (ops: readonly Op[], effect: Effect): Promise<void> =>
      context.commit({ ...effect, changes: [...newEntries(ops, effect), ...effect.changes] }).then(() => {
        for (const op of ops) {
          results.result.again ||= needsAnotherPlan(op)
          if (op.op !== 'move-base') context.onDone(doneOf(op))
        }
      }, end),
  }
}

export function makeExecutor(context: RunContext) {
  const { results, end, assertRunning, fail, canStart, record } = makeRecorder(context)

  /** Runs a batch; returns the operations that have to be sent one by one. */
  async function runBatch<O extends Op>(group: readonly O[], send: SendBatch<O>, recording: Recording): Promise<O[]> {
    const left = new Set(group.filter(canStart))
    try {
      await send([...left], (op, result) => {
        if (!left.delete(op)) return
        if ('effect' in result) recording.push(record([op], result.effect))
        else fail(op, result.error)
      })
    } catch (error) {
      context.signal.throwIfAborted()
      end(error)
      throw error
    }
    return [...left]
  }

  /** Runs operations that belong together, usually one, and reports them once their effect is committed. */
  async function runSingle<O extends Op>(
    group: readonly O[],
    act: () => ReturnType<Run<O>>,
    recording: Recording,
  ): Promise<void> {
    const able = group.filter(canStart)
    if (able.length < group.length) return able.forEach(results.leaveOut)
    try {
      const effect = await act()
      if (effect) recording.push(record(group, effect))
    } catch (error) {
      context.signal.throwIfAborted()
      for (const op of group) fail(op, error)
    }
  }

  async function recorded(recording: Recording, works: Promise<void>): Promise<void> {
    try {
      await works
    } finally {
      context.commit.flush()
      await Promise.all(recording)
    }
    assertRunning()
  }

  /** Groups run in order; operations of a group depend on each other. */
  async function groupsInOrder<O extends Op>(
    groups: readonly O[][],
    act: (group: O[]) => ReturnType<Run<O>>,
  ): Promise<void> {
    const recording: Recording = []
    const works = async (): Promise<void> => {
      for (const group of groups) await runSingle(group, () => act(group), recording)
    }
    await recorded(recording, works())
  }

  return {
    result: results.result,
    inOrder: <O extends Op>(ops: readonly O[], act: Run<O>): Promise<void> =>
      groupsInOrder(
        ops.map((op) => [op]),
        ([op]) => act(op!),
      ),
    groupsInOrder,
    async all<O extends Op>(ops: readonly O[], act: Run<O>): Promise<void> {
      const recording: Recording = []
      const limit = pLimit(CONCURRENCY)
      await recorded(recording, waitForAll(ops.map((op) => limit(() => runSingle([op], () => act(op), recording)))))
    },
    /** Runs batches concurrently, then one by one what fell out of them. */
    async inBatches<O extends Op>(groups: readonly (readonly O[])[], send: SendBatch<O>, act: Run<O>): Promise<void> {
      const recording: Recording = []
      const limit = pLimit(GROUP_CONCURRENCY)
      const unbatched: O[] = []
      const works = groups.map((group) =>
        limit(async () => void unbatched.push(...(await runBatch(group, send, recording)))),
      )
      await recorded(recording, waitForAll(works))
      context.onUnbatched(unbatched)
      await this.all(unbatched, act)
    },
    dependsOnFailedMove: results.dependsOnFailedMove,
    mayRemove: results.mayRemove,
  }
}

/** Another operation needs the path that this one frees. */
const needsAnotherPlan = (op: Op): boolean =>
  op.op === 'set-aside' || op.reason === 'replaced_here' || op.reason === 'replaced_there'

/** The fields of a move in events: source, target, and files moved along. */
export const moveFields = (
  op: OpOf<'move-local'> | OpOf<'move-remote'>,
): { path: string; to: string; files?: number } => ({
  path: op.from.here,
  to: op.here,
  ...(op.kind === 'dir' ? { files: op.files } : {}),
})

function doneOf(op: Op): Done {
  const done: Done = { op: op.op as Done['op'], path: op.here }
  if (op.reason) done.reason = op.reason
  if (op.op === 'upload' || op.op === 'download') done.size = sizeOf(op)
  if (op.op === 'set-aside') done.copy = op.to
  if (isMove(op) && op.op !== 'move-base') return { ...done, ...moveFields(op) }
  return done
}
