import type { Reader, Writer } from '../engine/database.ts'
import { findFact, noteFact } from './settings.ts'

// Records of the latest backups, one JSON value per kind.

/**
 * The latest backup that succeeded anywhere, succeeded in the scheduled place, failed, was restored by a drill, and was due;
 * `passphrase`: when and for which place somebody last gave the passphrase;
 * `paused`: from which backup this installation was restored, until its schedule is resumed; `job`: what an administrator last
 * started in the browser.
 */
export type RecordKind = 'done' | 'scheduled' | 'failed' | 'proven' | 'attempt' | 'paused' | 'passphrase' | 'job'

const keyOf = (kind: RecordKind): string => `backup:${kind}`

export const putRecord = (tx: Writer, kind: RecordKind, value: object | undefined): Promise<void> =>
  noteFact(tx, keyOf(kind), value && JSON.stringify(value))

export async function recordOf<T>(on: Reader, kind: RecordKind): Promise<T | undefined> {
  const value = await findFact(on, keyOf(kind))
  return value === undefined ? undefined : (JSON.parse(value) as T)
}
