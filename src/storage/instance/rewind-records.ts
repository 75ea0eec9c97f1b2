import { MINUTE } from '../../base/clock.ts'
import { randomHex } from '../../base/random.ts'
import { ownIdentity, processState, type ProcessIdentity } from '../../host/process-identity.ts'
import type { Reader, Writer } from '../engine/database.ts'
import { findFact, putFact } from './settings.ts'

// One record for each account that was rewound. It is in the database, which the processes of several machines can share.

/** A lock that was not renewed for this long is abandoned if nobody can tell whether its process runs. */
const ABANDONED = 10 * MINUTE

/** Where an account was to be taken, and the state before. The commands are words for `svc`. */
export interface UnfinishedRewind {
  /** The moment of the older state, ISO 8601. */
  moment: string
  /** When the first attempt began, ISO 8601. */
  started_at: string
  /** The backup of the state before the first attempt. */
  saved: { id: string; place: string; encrypted: boolean }
  complete: string[]
  undo: string[]
}

/** A backup that a rewind made of the state before it. */
export interface SavedState {
  id: string
  place: string
  /** Where that rewind went, ISO 8601. */
  moment: string
  undo: string[]
}

type RewindHolder = ProcessIdentity & { token?: string; touched_at: number }

export interface RewindRecord {
  /** Of the account: an id may be used again. */
  created_at: number
  lock?: RewindHolder | undefined
  unfinished?: UnfinishedRewind | undefined
  /** Newest first. */
  saves: SavedState[]
}

interface Owner {
  id: number
  created_at: number
}

export async function rewindRecord(on: Reader, { id, created_at }: Owner): Promise<RewindRecord> {
  const text = await findFact(on, `rewind:${id}`)
  const record = text === undefined ? undefined : (JSON.parse(text) as RewindRecord)
  return record?.created_at === created_at ? record : { created_at, saves: [] }
}

export const putRewindRecord = (tx: Writer, { id }: Owner, record: RewindRecord): Promise<void> =>
  putFact(tx, `rewind:${id}`, JSON.stringify(record))

/** The process that rewinds the account; undefined if there is none, or none any more. */
export function rewindHolder({ lock }: RewindRecord, now: number): RewindHolder | undefined {
  const state = lock && processState(lock)
  const isRenewed = lock && Math.abs(now - lock.touched_at) < ABANDONED
  return state === 'running' || (state === 'unknown' && isRenewed) ? lock : undefined
}

/** A lock of this process. */
export const newRewindLock = (now: number): RewindHolder & { token: string } => ({
  ...ownIdentity(),
  token: randomHex(8),
  touched_at: now,
})
