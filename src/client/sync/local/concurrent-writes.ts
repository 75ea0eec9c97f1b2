import { randomHex } from '../../../base/random.ts'
import { Changed } from '../sync-errors.ts'
import { restoreFile } from './file-operations.ts'
import type { Change } from '../state/sync-state.ts'
import { childOf, nameOf, parentOf } from '../plan/sync-tree.ts'
import type { RunContext } from '../run-context.ts'
import { toLocalPath } from '../../files/local-path.ts'
import { conflictName } from '../plan/conflict-names.ts'

// A write to a file just before it went to the trash is an edit: the file is restored.

type RescueContext = Pick<RunContext, 'root' | 'device' | 'date' | 'onDone' | 'clock'>

/** Names to try: another process may take one just before it is used. */
const NAMES = 8

/** Restores a concurrent edit as a conflict copy, because another file has its path. */
export async function rescueAsConflictCopy(context: RescueContext, path: string, trash: string): Promise<Change> {
  const { root, device, date, onDone, clock } = context
  for (let names = 1; ; names += 1) {
    // Its writer may not have finished, so there is no final content for a name yet.
    const name = conflictName({ name: nameOf(path), device, date, sha256: randomHex(4), attempt: 1 })
    const copy = childOf(parentOf(path), name)
    try {
      await restoreFile(trash, toLocalPath(root, copy))
    } catch (error) {
      if (error instanceof Changed && names < NAMES) continue
      throw error
    }
    onDone({ op: 'set-aside', path, reason: 'both_changed', copy })
    return { conflict: { copy, path, at: clock.now() } }
  }
}

/** Restores a concurrent edit to its path, or as a conflict copy if the path is taken. */
export async function rescueInPlace(context: RescueContext, path: string, trash: string): Promise<Change[]> {
  try {
    await restoreFile(trash, toLocalPath(context.root, path))
    return []
  } catch (error) {
    if (error instanceof Changed) return [await rescueAsConflictCopy(context, path, trash)]
    throw error
  }
}
