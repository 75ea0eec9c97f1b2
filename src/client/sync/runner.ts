import pLimit from 'p-limit'
import { deedsOf } from './deeds.ts'
import type { Op, OpOf } from './draft.ts'
import type { Effect } from './settle.ts'
import { makeLedger } from './outcome.ts'
import { isMove } from './move-ops.ts'
import type { Change } from './state.ts'
import type { Done, Work } from './work.ts'

const AT_ONCE = 8
/** While one batch is answered the next is on its way. */
const GROUPS_AT_ONCE = 2

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

/** What became of an operation that travelled in company: its effect, or why there is none. */
export type Share = { effect: Effect } | { error: unknown }

/** Does many operations in company, and tells what became of each; what nothing is told of has to go on its own. */
export type Carry<O extends Op> = (ops: readonly O[], tell: Tell<O>) => Promise<void>
export type Tell<O extends Op> = (op: O, share: Share) => void

/** What comes of operations: whether they may begin, what is recorded of them, and what ends the run. */
function makeBooks(work: Work) {
  const ledger = makeLedger()
  let ended: { error: unknown } | undefined

  /** Nothing else is begun. */
  const end = (error: unknown): void => void (ended ??= { error })
  const assertGoing = (): void => {
    if (ended) throw ended.error
  }
  /** Noted before what it speaks of is recorded. */
  function notes(ops: readonly Op[], { changes }: Effect): Change[] {
    if (!work.noting) return []
    const puts = changes.flatMap((change) => ('put' in change ? [change] : []))
    // What a ring of moves came to is told with the first of them.
    const deeds = ops.flatMap((op, at) => deedsOf(op, at === 0 ? puts : []))
    return deeds.map((note) => ({ note, run: work.run, at: work.clock.now() }))
  }

  return {
    ledger,
    end,
    assertGoing,
    wentWrong(op: Op, error: unknown): void {
      if (ledger.wentWrong(op, error)) return
      end(error)
      throw error
    },
    /** Whether an operation can still be begun; throws when the run is over. */
    mayBegin(op: Op): boolean {
      work.signal.throwIfAborted()
      assertGoing()
      return ledger.mayBegin(op)
    },
    record: (ops: readonly Op[], effect: Effect): Promise<void> =>
      work.settle({ ...effect, changes: [...notes(ops, effect), ...effect.changes] }).then(() => {
        for (const op of ops) {
          ledger.outcome.again ||= makesRoom(op)
          if (op.op !== 'move-base') work.onDone(doneOf(op))
        }
      }, end),
  }
}

/** Does operations, and keeps what came of each. */
export function makeRunner(work: Work) {
  const { ledger, end, assertGoing, wentWrong, mayBegin, record } = makeBooks(work)

  /** Does a group of operations in company; returns those that have to go on their own. */
  async function company<O extends Op>(group: readonly O[], carry: Carry<O>, recording: Promise<void>[]): Promise<O[]> {
    const left = new Set(group.filter(mayBegin))
    try {
      await carry([...left], (op, share) => {
        if (!left.delete(op)) return
        if ('effect' in share) recording.push(record([op], share.effect))
        else wentWrong(op, share.error)
      })
    } catch (error) {
      work.signal.throwIfAborted()
      end(error)
      throw error
    }
    return [...left]
  }

  /** Does operations that belong together, mostly one; what they brought about is recorded in company, and reported only then. */
  async function one<O extends Op>(
    group: readonly O[],
    act: () => ReturnType<Act<O>>,
    recording: Promise<void>[],
  ): Promise<void> {
    const able = group.filter(mayBegin)
    if (able.length < group.length) return able.forEach(ledger.leftOut)
    try {
      const effect = await act()
      if (effect) recording.push(record(group, effect))
    } catch (error) {
      work.signal.throwIfAborted()
      for (const op of group) wentWrong(op, error)
    }
  }

  async function recorded(recording: Promise<void>[], works: Promise<void>): Promise<void> {
    try {
      await works
    } finally {
      work.settle.flush()
      await Promise.all(recording)
    }
    assertGoing()
  }

  /** One group after another; the operations of a group only make sense together. */
  async function groupsInOrder<O extends Op>(
    groups: readonly O[][],
    act: (group: O[]) => ReturnType<Act<O>>,
  ): Promise<void> {
    const recording: Promise<void>[] = []
    const works = async (): Promise<void> => {
      for (const group of groups) await one(group, () => act(group), recording)
    }
    await recorded(recording, works())
  }

  return {
    outcome: ledger.outcome,
    inOrder: <O extends Op>(ops: readonly O[], act: Act<O>): Promise<void> =>
      groupsInOrder(
        ops.map((op) => [op]),
        ([op]) => act(op!),
      ),
    groupsInOrder,
    async all<O extends Op>(ops: readonly O[], act: Act<O>): Promise<void> {
      const recording: Promise<void>[] = []
      const limit = pLimit(AT_ONCE)
      await recorded(recording, together(ops.map((op) => limit(() => one([op], () => act(op), recording)))))
    },
    /** Does operations in company, some groups at once, and those that cannot travel so on their own. */
    async grouped<O extends Op>(groups: readonly (readonly O[])[], carry: Carry<O>, act: Act<O>): Promise<void> {
      const recording: Promise<void>[] = []
      const limit = pLimit(GROUPS_AT_ONCE)
      const alone: O[] = []
      const works = groups.map((group) =>
        limit(async () => void alone.push(...(await company(group, carry, recording)))),
      )
      await recorded(recording, together(works))
      work.onAlone(alone)
      await this.all(alone, act)
    },
    isAstray: ledger.isAstray,
    mayRemove: ledger.mayRemove,
  }
}

/** What made room for something else calls for the plan that puts it there. */
const makesRoom = (op: Op): boolean =>
  op.op === 'set-aside' || op.reason === 'replaced_here' || op.reason === 'replaced_there'

/** How a move is told: from where, to where, and how much went along. */
export const movedIn = (
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
  if (isMove(op) && op.op !== 'move-base') return { ...done, ...movedIn(op) }
  return done
}
