import type { Op } from '../plan/plan-builder.ts'
import type { Skipped } from '../plan/sync-tree.ts'
import { isMove } from '../plan/move-operations.ts'
import { makeFailures } from './failed-operations.ts'
import { classifyError } from './error-classification.ts'

export interface ApplyResult {
  /** Whether another plan may get further. */
  again: boolean
  /** Whether the state of the account is uncertain and must be listed again. */
  stale: boolean
  /** Permanent failures, by key. */
  failed: Map<string, Skipped>
  /** Items that differed from the plan, by key: the next plan decides. */
  changed: Map<string, Skipped>
}

/** Collects results of operations, and decides which ones may still start after failures. */
export function makeResults() {
  const result: ApplyResult = { again: false, stale: false, failed: new Map(), changed: new Map() }
  const stopped = new Map<Op['op'], Skipped['code']>()
  const failures = makeFailures()

  function fail(op: Op, skipped: Skipped): void {
    // A full quota does not make the listing uncertain, and deletions help.
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
    /** Whether an operation may start; after a full disk it counts as failed. */
    canStart(op: Op): boolean {
      const code = stopped.get(op.op)
      if (code) fail(op, { path: op.here, code })
      else if (failures.dependsOnFailedMove(op)) leaveOut(op)
      else return true
      return false
    },
    /** Records an operation that was not started because of another one. */
    leaveOut,
    dependsOnFailedMove: failures.dependsOnFailedMove,
    /** Nothing is deleted after a full disk, nor beside or above a failed operation. */
    mayRemove: (key: string): boolean => stopped.size === 0 && !failures.isNearFailure(key),
  }
}
