import type { Op } from '../plan/plan-builder.ts'
import { isMove } from '../plan/move-operations.ts'
import { foldersAbove } from '../plan/reserved-paths.ts'
import { parentOf, ROOT } from '../plan/sync-tree.ts'

/** Records failed operations, and which others must not run because of them. */
export function makeFailures() {
  /** Folders with a failed operation directly in them, or anywhere below. */
  const failedIn = { directly: new Set<string>(), below: new Set<string>() }
  /** Sources and targets of failed moves, with their parent folders. */
  const failedMoves = { keys: new Set<string>(), over: new Set<string>() }

  function dependsOnFailedMove(key: string): boolean {
    if (failedMoves.over.has(key)) return true
    for (let at = key; at !== ROOT; at = parentOf(at)) if (failedMoves.keys.has(at)) return true
    return false
  }

  return {
    add(op: Op): void {
      for (const key of isMove(op) ? [op.key, op.from.key] : [op.key]) {
        failedIn.directly.add(parentOf(key))
        for (const folder of foldersAbove(key)) {
          failedIn.below.add(folder)
          if (isMove(op)) failedMoves.over.add(folder)
        }
        if (isMove(op)) failedMoves.keys.add(key)
      }
    },
    /** Whether an operation depends on a failed move. */
    dependsOnFailedMove: (op: Op): boolean =>
      failedMoves.keys.size > 0 && (dependsOnFailedMove(op.key) || (isMove(op) && dependsOnFailedMove(op.from.key))),
    /** Whether something beside or below a key was not done. */
    isNearFailure: (key: string): boolean => failedIn.directly.has(parentOf(key)) || failedIn.below.has(key),
  }
}
