import { closeSync, existsSync, mkdirSync, openSync, renameSync } from 'node:fs'
import { dirname } from 'node:path'
import { errorCode } from '../../base/errors.ts'
import type { Clock } from '../../base/clock.ts'
import { openSqliteFile, type SqliteFile } from '../../host/sqlite-file.ts'
import type { Row } from '../rows/row-values.ts'
import type { Outcome } from '../rows/operation.ts'
import { BASE_SCHEMA, makeBase } from './replica-base.ts'
import { REJECTED_SCHEMA, makeRejectedChanges } from './rejected-changes.ts'
import { makeOutcomes, type Awaited, type PushResult } from './push-results.ts'
import { makeQueue, NoSuchRow } from './change-queue.ts'
import { QUEUE_SCHEMA } from './queue-store.ts'
import type { Change, Everything, RejectedChange, Page, Place, Waiting } from './replica-records.ts'
import { mergeAfterRestore } from './server-restore.ts'
import { salvage } from './replica-recovery.ts'
import { makeView } from './row-view.ts'
import type { AccountIdentity } from '../auth/account-identity.ts'

const FORMAT = 1

/** The local replica of an account's rows and its queue of changes. Every method is one durable step. */
export type Replica = ReturnType<typeof makeReplica>

export interface Opened {
  copy: Replica
  /** Where a damaged file was moved, and how many queued changes were recovered. */
  damaged: { file: string; kept: number } | undefined
}

/** Opens or creates the replica. Of a damaged file, readable queued changes are kept; rows are downloaded again. */
export function openReplica(file: string, owner: AccountIdentity, clock: Clock): Opened {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600))
  try {
    return { copy: makeReplica(openSound(file), owner, clock), damaged: undefined }
  } catch (error) {
    if (!['SQLITE_CORRUPT', 'SQLITE_NOTADB'].some((code) => errorCode(error).startsWith(code))) throw error
  }
  const aside = `${file}.damaged`
  for (const tail of ['', '-wal', '-shm']) if (existsSync(file + tail)) renameSync(file + tail, aside + tail)
  closeSync(openSync(file, 'a', 0o600))
  const db = openSound(file)
  const kept = salvage(aside, db)
  return { copy: makeReplica(db, owner, clock), damaged: { file: aside, kept } }
}

function openSound(file: string): SqliteFile {
  const db = openSqliteFile(file)
  try {
    const { quick_check: check } = db.get<{ quick_check: string }>('pragma quick_check(1)')!
    if (check !== 'ok') throw Object.assign(new Error(check), { code: 'SQLITE_CORRUPT' })
    db.script(BASE_SCHEMA + QUEUE_SCHEMA + REJECTED_SCHEMA)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

function makeReplica(db: SqliteFile, owner: AccountIdentity, clock: Clock) {
  const base = makeBase(db)
  const queue = makeQueue(db, base)
  const rejected = makeRejectedChanges(db)
  const view = makeView(base, queue)
  const outcomes = makeOutcomes({ base, queue, rejected })
  const parts = { base, queue, rejected }
  if (base.get<number>('format') === undefined) base.set('format', FORMAT)

  return {
    owner,
    /** The feed position of the replica; undefined before the first download. */
    place: (): Place | undefined => base.place(),
    hasAllTables: (): boolean => base.hasAllTables(),
    learn: (page: Page, since: number): number => base.learn(page, since, clock.now()),
    /** Replaces all rows; the queue stays. Returns true if the server was restored. */
    begin(everything: Everything): boolean {
      return db.transaction(() => {
        const before = base.place()
        const restored =
          before !== undefined && (before.epoch !== everything.epoch || everything.cursor < before.cursor)
        if (restored) mergeAfterRestore(parts, everything, clock.now())
        base.replace(everything, clock.now())
        return restored
      })
    },

    rows: (table: string): Row[] => db.transaction(() => view.rows(table)),
    row: (table: string, id: number): Row | undefined => db.transaction(() => view.row(table, id)),
    /** The server's ID of a row, given either ID. */
    idOf: (id: number): number => queue.resolve(id),

    /**
     * Queues changes, all or none. Those made offline throw `NoSuchRow` for unknown rows and are merged with earlier ones;
     * the others stay apart, so that a failure or conflict of one leaves the earlier ones alone.
     */
    change(changes: readonly Change[], isOffline: boolean): (Waiting | undefined)[] {
      return db.transaction(() =>
        changes.map((change) => {
          const { table, row } = change
          const before = row === undefined ? undefined : view.row(table, row)
          if (row !== undefined && isOffline && !before) throw new NoSuchRow(`There is no row ${row} in ${table}.`)
          return queue.add(change, before, clock.now(), !isOffline)
        }),
      )
    },
    waiting: (): Waiting[] => queue.all(),
    /** Whether a change is still queued, unchanged or rebased. */
    waits: (seq: number): boolean => queue.all().some((each) => each.seq === seq),
    count: () => ({ waiting: queue.count(), ...rejected.count() }),
    nextBatch: (most?: number): Waiting[] => db.transaction(() => queue.nextBatch(most)),
    unsent: (batch: readonly Waiting[]): void => db.transaction(() => queue.unsent(batch)),
    settle(batch: readonly Waiting[], results: readonly Outcome[], awaited: Awaited): PushResult[] {
      return db.transaction(() =>
        batch.map((waiting, index) => outcomes.settle(waiting, results[index]!, awaited, clock.now())),
      )
    },
    refuse: (waiting: Waiting, why: { code: string; message: string }, awaited: Awaited): PushResult =>
      db.transaction(() => outcomes.refuse(waiting, why, awaited, clock.now())),
    /** Removes unsent changes; returns those that may have been sent. */
    withdraw: (seqs: readonly number[]): number[] => db.transaction(() => queue.withdraw(seqs)),

    rejected: (): RejectedChange[] => rejected.all(),
    rejectedOf: (op_id: string): RejectedChange | undefined => rejected.byOp(op_id),
    /** Resolves a rejected change, and queues the resulting changes. */
    answer(rejectedChange: RejectedChange, changes: readonly Change[]): (Waiting | undefined)[] {
      return db.transaction(() => {
        rejected.remove(rejectedChange.id)
        return changes.map((change) => {
          const before = change.row === undefined ? undefined : view.row(change.table, change.row)
          return queue.add(change, before, clock.now())
        })
      })
    },
    close: (): void => db.close(),
  }
}
