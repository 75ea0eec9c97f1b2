import type { Op } from '../plan/plan-builder.ts'
import { isMove } from '../plan/move-operations.ts'
import { foldersOver } from '../plan/paths.ts'
import { parentOf, ROOT } from '../plan/tree.ts'

/** Remembers failed operations, and what must not be done because of them. */
export function makeFailures() {
  /** Folders in which, or somewhere below which, something was not done. */
  const untidy = { directly: new Set<string>(), below: new Set<string>() }
  /** Where moves that were not made begin and end, and the folders over them. */
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
    /** Whether an operation was planned for where things are after a move that was not made. */
    isAstray: (op: Op): boolean => astray.keys.size > 0 && (isAstray(op.key) || (isMove(op) && isAstray(op.from.key))),
    /** Whether something beside or below a key was not done. */
    isNearFailure: (key: string): boolean => untidy.directly.has(parentOf(key)) || untidy.below.has(key),
  }
}
