import type { Reader, Writer } from '../engine/database.ts'
import { findFact, putFact } from './settings.ts'

// Records of the latest backups, one JSON value per kind.

/**
 * `done` and `failed`: the latest successful and failed backup. `proven`: the latest one that a drill restored.
 * `attempt`: the latest scheduled start.
 */
export type RecordKind = 'done' | 'failed' | 'proven' | 'attempt'

const keyOf = (kind: RecordKind): string => `backup:${kind}`

export async function putRecord(tx: Writer, kind: RecordKind, value: object): Promise<void> {
  await putFact(tx, keyOf(kind), JSON.stringify(value))
}

/** The latest value, or undefined. */
export async function recordOf<T>(on: Reader, kind: RecordKind): Promise<T | undefined> {
  const value = await findFact(on, keyOf(kind))
  return value === undefined ? undefined : (JSON.parse(value) as T)
}
