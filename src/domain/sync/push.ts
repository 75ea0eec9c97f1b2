import { createHash } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import { fault } from '../../contract/errors.ts'
import { PUSH_OPERATIONS } from '../../contract/limits.ts'
import { advance, headOf, recordAll, type Change } from '../../storage/feed/changes.ts'
import type { DataBound } from '../../storage/engine/data-kinds.ts'
import { dataUsage, type DataUsage } from '../../storage/engine/data-usage.ts'
import type { Database, Writer } from '../../storage/engine/database.ts'
import { keyedAnswer, pushedOperations, rememberAnswer, rememberOperations } from '../../storage/feed/pushes.ts'
import { rowTable, type RowTable } from '../../storage/feed/rows.ts'
import type { PushedOperationRow } from '../../storage/engine/tables.ts'
import { boundOf, excessOf } from '../data-bounds.ts'
import {
  check,
  isObject,
  malformed,
  outcomeOf,
  Rejected,
  type Effect,
  type Operation,
  type Outcome,
  type ValidOperation,
} from './operation.ts'
import { shapes, toWire } from './table-shapes.ts'

export type { Operation } from './operation.ts'

export interface Push {
  operations: Operation[]
  cursor?: number
}

export interface Pushed {
  results: Outcome[]
  cursor: number
  contiguous: boolean
}

const rowTables = new Map<string, RowTable>(shapes.map((shape) => [shape.name, rowTable(shape)]))

/** A hash of a JSON value, independent of the order of keys. */
function payloadHash(value: unknown): string {
  const sorted = (_key: string, part: unknown) =>
    isObject(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part
  return createHash('sha256').update(JSON.stringify(value, sorted)).digest('hex')
}

/** The account's remaining space for rows. */
interface Room {
  bound: DataBound
  usage: DataUsage
}

const roomOf = async (tx: Writer, user: number): Promise<Room> => ({
  bound: await boundOf(tx, 'rows'),
  usage: await dataUsage(tx, user, 'rows'),
})

/** Reserves space for a new row; returns the reason if there is none. */
function claim({ bound, usage }: Room, bytes: number): Rejected | undefined {
  const text = excessOf('rows', { items: usage.items + 1, bytes: usage.bytes + bytes }, bound)
  if (text) return new Rejected('quota_exceeded', text)
  usage.items += 1
  usage.bytes += bytes
  return undefined
}

/** Updates or deletes a row. Every check precedes the single writing statement, so nothing needs a rollback. */
async function perform(
  tx: Writer,
  user: number,
  { table, verb, id, values, baseVersion }: ValidOperation,
  { now, room: { bound, usage } }: { now: string; room: Room },
): Promise<Effect | Rejected> {
  const rows = rowTables.get(table)!
  const version = await rows.version(tx, user, id)
  if (version === undefined) {
    if (verb === 'DELETE') return { id, version: null, changed: false }
    return new Rejected('gone', 'The row does not exist any more.', id)
  }
  if (baseVersion !== undefined && baseVersion !== version) {
    const current = (await rows.get(tx, user, id))!
    toWire(table)(current)
    return new Rejected('conflict', `The row is at version ${version} by now.`, id, current)
  }
  if (verb === 'DELETE') {
    usage.bytes -= await rows.remove(tx, id)
    usage.items -= 1
    return { id, version: null, changed: true, deleted: true }
  }
  if (Object.keys(values).length === 0) return { id, version, changed: false }
  const left = bound.bytes < 0 ? -1 : Math.max(0, bound.bytes - usage.bytes)
  const growth = await rows.update(tx, id, values, now, left)
  if (growth === undefined)
    return new Rejected('quota_exceeded', excessOf('rows', { ...usage, bytes: Infinity }, bound)!, id)
  usage.bytes += growth
  return { id, version: version + 1, changed: true }
}

/** Stored results of each `op_id` in a push. */
async function knownOperations(tx: Writer, user: number, operations: readonly unknown[]) {
  const ops = operations.flatMap((operation) =>
    isObject(operation) && typeof operation['op_id'] === 'string' ? [operation['op_id']] : [],
  )
  const rows = ops.length > 0 ? await pushedOperations(tx, user, ops) : []
  return new Map(rows.map((row) => [row.op_id, row]))
}

/** Results of a push so far, and those to store. */
function makeLedger(user: number, known: Map<string, PushedOperationRow>, now: number) {
  const results: Outcome[] = []
  const changes: Change[] = []
  const remembered: PushedOperationRow[] = []
  return {
    results,
    changes,
    remembered,

    settle(index: number, operation: Operation, effect: Effect | Rejected): void {
      const outcome = (results[index] = outcomeOf(index, operation, effect))
      if (effect instanceof Rejected) return
      if (effect.changed) changes.push({ table: outcome.table!, row: effect.id, deleted: effect.deleted === true })
      // Only successful results are stored: a rejected operation changed nothing and may be sent again, corrected.
      if (outcome.op_id === undefined) return
      const payload_hash = payloadHash({ ...operation, op_id: undefined })
      const row = {
        user_id: user,
        op_id: outcome.op_id,
        payload_hash,
        result: JSON.stringify(outcome),
        created_at: now,
      }
      known.set(row.op_id, row)
      remembered.push(row)
    },

    /** Returns the stored result of a repeated `op_id`; false for a new one. */
    repeats(index: number, operation: Operation): boolean {
      const before = known.get(operation.op_id as string)
      if (!before) return false
      const isSame = before.payload_hash === payloadHash({ ...operation, op_id: undefined })
      results[index] = isSame
        ? { ...(JSON.parse(before.result) as Outcome), index, status: 'duplicate' }
        : outcomeOf(index, operation, new Rejected('op_id_reuse', 'The op_id was used for another operation.'))
      return true
    },
  }
}

/**
 * Applies operations in order and independently. Consecutive INSERTs into one table share a statement. A repeated
 * `op_id` returns the stored result and writes nothing.
 */
async function applyAll(tx: Writer, user: number, operations: readonly Operation[], now: number) {
  const ledger = makeLedger(user, await knownOperations(tx, user, operations), now)
  const stamp = new Date(now).toISOString()
  const room = await roomOf(tx, user)
  let inserts: { index: number; operation: Operation; sound: ValidOperation }[] = []

  async function insertWaiting(): Promise<void> {
    const group = inserts
    inserts = []
    if (group.length === 0) return
    const rows = group.map(({ sound }) => sound.values)
    const ids = await rowTables.get(group[0]!.sound.table)!.insert(tx, user, rows, stamp)
    for (const [at, { index, operation }] of group.entries())
      ledger.settle(index, operation, { id: ids[at]!, version: 1, changed: true })
  }

  for (const [index, operation] of operations.entries()) {
    const misshapen = malformed(operation)
    if (misshapen) {
      ledger.settle(index, operation ?? {}, misshapen)
      continue
    }
    const { op_id: op } = operation
    if (op !== undefined && inserts.some((insert) => insert.operation.op_id === op)) await insertWaiting()
    if (ledger.repeats(index, operation)) continue
    const sound = check(operation)
    if (sound instanceof Rejected) ledger.settle(index, operation, sound)
    else if (sound.verb === 'INSERT') {
      const refused = claim(room, rowTables.get(sound.table)!.size(sound.values))
      if (refused) {
        ledger.settle(index, operation, refused)
        continue
      }
      if (inserts[0] && inserts[0].sound.table !== sound.table) await insertWaiting()
      inserts.push({ index, operation, sound })
    } else {
      await insertWaiting()
      ledger.settle(index, operation, await perform(tx, user, sound, { now: stamp, room }))
    }
  }
  await insertWaiting()
  await rememberOperations(tx, ledger.remembered)
  return ledger
}

/** Applies a push within a transaction, and returns the feed position afterwards. */
export async function applyIn(tx: Writer, user: number, { operations, cursor }: Push, now: number): Promise<Pushed> {
  const before = (await headOf(tx, user))!.seq
  const { results, changes } = await applyAll(tx, user, operations, now)
  let head = before
  if (changes.length > 0) {
    head = (await advance(tx, user, changes.length)).seq
    await recordAll(tx, user, head, now, changes)
  }
  // A client that skipped its cursor past the rows of others would never receive them.
  const contiguous = cursor === undefined || cursor === before
  return { results, cursor: contiguous ? head : cursor, contiguous }
}

export const makePush = ({ database, clock }: { database: Database; clock: Clock }) => ({
  /**
   * Applies up to 100 operations in one transaction, each on its own. With `key` (Idempotency-Key), repeating the whole
   * request returns the first response. Faults: `too_many_operations`, `idempotency_key_reuse`.
   */
  async push(user: number, push: Push, key?: string): Promise<Pushed> {
    if (push.operations.length > PUSH_OPERATIONS) throw fault('too_many_operations')
    return database.write({ accounts: [user] }, async (tx) => {
      const now = clock.now()
      if (!key) return applyIn(tx, user, push, now)
      const payload_hash = payloadHash(push)
      const before = await keyedAnswer(tx, user, key)
      if (before && before.payload_hash !== payload_hash) throw fault('idempotency_key_reuse')
      if (before) return JSON.parse(before.answer) as Pushed
      const answer = await applyIn(tx, user, push, now)
      await rememberAnswer(tx, {
        user_id: user,
        key,
        payload_hash,
        answer: JSON.stringify(answer),
        created_at: now,
      })
      return answer
    })
  },
})
