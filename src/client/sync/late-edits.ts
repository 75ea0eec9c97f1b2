import { randomHex } from '../../base/random.ts'
import { Changed } from './changed.ts'
import { conflictName, placeOf } from './paths.ts'
import { bringBack } from './placing.ts'
import type { Change } from './state.ts'
import { childOf, nameOf, parentOf } from './tree.ts'
import type { Work } from './work.ts'

// What was written into a file at the last moment before it left its place is an edit, and does not stay in the trash.

type Keeping = Pick<Work, 'root' | 'device' | 'date' | 'onDone' | 'clock'>

/** Somebody may take a name just before it is given; nobody takes so many. */
const NAMES = 8

/** Brings an edit back as a conflict copy, where another file has its place. */
export async function keepEdit(work: Keeping, path: string, trash: string): Promise<Change> {
  const { root, device, date, onDone, clock } = work
  for (let names = 1; ; names += 1) {
    // Its writer may not have finished, so it has no content yet to be named by.
    const name = conflictName({ name: nameOf(path), device, date, sha256: randomHex(4), attempt: 1 })
    const copy = childOf(parentOf(path), name)
    try {
      await bringBack(trash, placeOf(root, copy))
    } catch (error) {
      if (error instanceof Changed && names < NAMES) continue
      throw error
    }
    onDone({ op: 'set-aside', path, reason: 'both_changed', copy })
    return { conflict: { copy, path, at: clock.now() } }
  }
}

/** Brings an edit back to its place, or beside whatever has it by now. */
export async function giveBack(work: Keeping, path: string, trash: string): Promise<Change[]> {
  try {
    await bringBack(trash, placeOf(work.root, path))
    return []
  } catch (error) {
    if (error instanceof Changed) return [await keepEdit(work, path, trash)]
    throw error
  }
}
