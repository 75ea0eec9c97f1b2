import type { Reader, Writer } from '../engine/database.ts'
import { findFact, putFact } from './settings.ts'

// What is remembered of the last backups, one value a kind, as JSON.

/** `done` and `failed`: the last backup that was made or could not be. `proven`: the last one that a drill restored. `attempt`: the last one that the schedule began. */
export type RecordKind = 'done' | 'failed' | 'proven' | 'attempt'

const keyOf = (kind: RecordKind): string => `backup:${kind}`

export async function putRecord(tx: Writer, kind: RecordKind, value: object): Promise<void> {
  await putFact(tx, keyOf(kind), JSON.stringify(value))
}

/** The value stored last, or undefined. */
export async function recordOf<T>(on: Reader, kind: RecordKind): Promise<T | undefined> {
  const value = await findFact(on, keyOf(kind))
  return value === undefined ? undefined : (JSON.parse(value) as T)
}
