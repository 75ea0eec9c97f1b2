import type { Op } from '../plan/plan-builder.ts'
import type { Skipped } from '../plan/tree.ts'
import { isMove } from '../plan/move-operations.ts'
import { makeFailures } from './failures.ts'
import { classifyError } from './classify-error.ts'

/** The result of applying a plan. */
export interface ApplyResult {
  /** Whether planning anew may get further. */
  again: boolean
  /** Whether the account is not what it was taken for, and has to be asked for again. */
  stale: boolean
  /** What went wrong for good, by key. */
  failed: Map<string, Skipped>
  /** What was not as planned, by key: the next plan decides. */
  changed: Map<string, Skipped>
}

/** Collects the results of operations, and decides what may still be done after failures. */
export function makeResults() {
  const result: ApplyResult = { again: false, stale: false, failed: new Map(), changed: new Map() }
  const stopped = new Map<Op['op'], Skipped['code']>()
  const failures = makeFailures()

  function fail(op: Op, skipped: Skipped): void {
    // A full quota casts no doubt on the listing, and deletions are what helps.
    if (skipped.code !== 'quota' || isMove(op)) failures.add(op)
    result.failed.set(op.key, skipped)
    if (isMove(op)) result.failed.set(op.from.key, skipped)
  }

  function leaveOut(op: Op): void {
    failures.add(op)
    result.again = true
  }

  return {
    result,
    /** Records the error of an operation; false when the run cannot go on. */
    recordError(op: Op, error: unknown): boolean {
      const errorClass = classifyError(error, op)
      if (errorClass.kind === 'end') return false
      if (errorClass.kind === 'changed') {
        failures.add(op)
        result.again = true
        result.stale ||= errorClass.side === 'remote'
        result.changed.set(op.key, { path: op.here, code: 'busy' })
      } else {
        for (const kind of errorClass.stops ?? []) stopped.set(kind, errorClass.skipped.code)
        fail(op, errorClass.skipped)
      }
      return true
    },
    /** Whether an operation can still be done; with a disk that is full it counts as failed. */
    canStart(op: Op): boolean {
      const code = stopped.get(op.op)
      if (code) fail(op, { path: op.here, code })
      else if (failures.isAstray(op)) leaveOut(op)
      else return true
      return false
    },
    /** Records an operation that was not started because of another one. */
    leaveOut,
    dependsOnFailedMove: failures.isAstray,
    /** Nothing is deleted after the disk was full, nor beside or above what was not done. */
    mayRemove: (key: string): boolean => stopped.size === 0 && !failures.isNearFailure(key),
  }
}
