import type { Reader, Writer } from '../engine/database.ts'
import { findFact, noteFact } from './settings.ts'

// Records of the latest backups, one JSON value per kind.

/**
 * `done` and `failed`: the latest successful and failed backup. `proven`: the latest one that a drill restored.
 * `attempt`: the latest scheduled start.
 */
export type RecordKind = 'done' | 'failed' | 'proven' | 'attempt'

const keyOf = (kind: RecordKind): string => `backup:${kind}`

/** Stores a record; removes it if `value` is undefined. */
export const putRecord = (tx: Writer, kind: RecordKind, value: object | undefined): Promise<void> =>
  noteFact(tx, keyOf(kind), value && JSON.stringify(value))

/** The latest value, or undefined. */
export async function recordOf<T>(on: Reader, kind: RecordKind): Promise<T | undefined> {
  const value = await findFact(on, keyOf(kind))
  return value === undefined ? undefined : (JSON.parse(value) as T)
}
