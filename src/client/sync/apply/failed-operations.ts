import type { Op } from '../plan/plan-builder.ts'
import { isMove } from '../plan/move-operations.ts'
import { foldersOver } from '../plan/reserved-paths.ts'
import { parentOf, ROOT } from '../plan/sync-tree.ts'

/** Records failed operations, and which others must not run because of them. */
export function makeFailures() {
  /** Folders with a failed operation directly in them, or anywhere below. */
  const untidy = { directly: new Set<string>(), below: new Set<string>() }
  /** Sources and targets of failed moves, with their parent folders. */
  const astray = { keys: new Set<string>(), over: new Set<string>() }

  function isAstray(key: string): boolean {
    if (astray.over.has(key)) return true
    for (let at = key; at !== ROOT; at = parentOf(at)) if (astray.keys.has(at)) return true
    return false
  }

  return {
    add(op: Op): void {
      for (const key of isMove(op) ? [op.key, op.from.key] : [op.key]) {
        untidy.directly.add(parentOf(key))
        for (const folder of foldersOver(key)) {
          untidy.below.add(folder)
          if (isMove(op)) astray.over.add(folder)
        }
        if (isMove(op)) astray.keys.add(key)
      }
    },
    /** Whether an operation depends on a failed move. */
    isAstray: (op: Op): boolean => astray.keys.size > 0 && (isAstray(op.key) || (isMove(op) && isAstray(op.from.key))),
    /** Whether something beside or below a key was not done. */
    isNearFailure: (key: string): boolean => untidy.directly.has(parentOf(key)) || untidy.below.has(key),
  }
}
