import type { Op } from './draft.ts'
import type { Skipped } from './tree.ts'
import { isMove } from './move-ops.ts'
import { makeUndone } from './undone.ts'
import { judge } from './verdict.ts'

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

/** Keeps what came of the operations of a plan, and what may still be done after that. */
export function makeLedger() {
  const outcome: Outcome = { again: false, stale: false, failed: new Map(), changed: new Map() }
  const stopped = new Map<Op['op'], Skipped['code']>()
  const undone = makeUndone()

  function fail(op: Op, skipped: Skipped): void {
    // A full quota is no sign of trouble with a listing, and deleting is what helps against it.
    if (skipped.code !== 'quota' || isMove(op)) undone.add(op)
    outcome.failed.set(op.key, skipped)
    if (isMove(op)) outcome.failed.set(op.from.key, skipped)
  }

  function leftOut(op: Op): void {
    undone.add(op)
    outcome.again = true
  }

  return {
    outcome,
    /** Takes in why an operation was not done; false when the run cannot go on. */
    wentWrong(op: Op, error: unknown): boolean {
      const verdict = judge(error, op)
      if (verdict.kind === 'end') return false
      if (verdict.kind === 'changed') {
        undone.add(op)
        outcome.again = true
        outcome.stale ||= verdict.side === 'there'
        outcome.changed.set(op.key, { path: op.here, code: 'busy' })
      } else {
        for (const kind of verdict.stops ?? []) stopped.set(kind, verdict.skipped.code)
        fail(op, verdict.skipped)
      }
      return true
    },
    /** Whether an operation can still be done; with a disk that is full it counts as failed. */
    mayBegin(op: Op): boolean {
      const code = stopped.get(op.op)
      if (code) fail(op, { path: op.here, code })
      else if (undone.isAstray(op)) leftOut(op)
      else return true
      return false
    },
    /** Takes in that an operation was not even begun, because of another one. */
    leftOut,
    isAstray: undone.isAstray,
    /** Nothing is deleted after the disk was full, nor beside or above what was not done. */
    mayRemove: (key: string): boolean => stopped.size === 0 && !undone.isAround(key),
  }
}
