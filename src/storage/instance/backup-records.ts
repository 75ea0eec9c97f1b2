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

/** What records of the latest backups that succeeded have in common. */
export interface StoredBackup {
  id: string
  place: string
  /** It was removed by a command, or this installation was restored and does not know what was removed since. */
  may_be_gone?: true
}

/** Records that some of the latest backups need not be in their places any more. */
export async function releaseBackups(tx: Writer, isReleased: (last: StoredBackup) => boolean): Promise<void> {
  for (const kind of ['done', 'scheduled'] as const) {
    const last = await recordOf<StoredBackup>(tx, kind)
    if (last && isReleased(last)) await putRecord(tx, kind, { ...last, may_be_gone: true })
  }
}

export async function recordOf<T>(on: Reader, kind: RecordKind): Promise<T | undefined> {
  const value = await findFact(on, keyOf(kind))
  return value === undefined ? undefined : (JSON.parse(value) as T)
}
