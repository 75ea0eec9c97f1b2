import { createHash } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import { fault } from '../../contract/errors.ts'
import { PUSH_OPERATIONS } from '../../contract/limits.ts'
import { isWritable, readOnlyTables, type TableName } from '../../contract/tables.ts'
import { advance, headOf, recordAt } from '../../storage/changes.ts'
import type { Database, Writer } from '../../storage/database.ts'
import { keyedAnswer, pushedOperation, rememberAnswer, rememberOperation } from '../../storage/pushes.ts'
import { rowTable, type RowTable, type Stored, type SyncedRowOf } from '../../storage/rows.ts'
import type { News } from '../news.ts'
import { refuse } from './row-checks.ts'
import { shapes, toStored, toWire } from './tables.ts'

export interface Operation {
  table?: unknown
  operation?: unknown
  data?: unknown
  op_id?: unknown
  base_version?: unknown
}

export interface Outcome {
  index: number
  ok: boolean
  status: 'applied' | 'duplicate' | 'conflict' | 'error'
  table: string | null
  operation: string | null
  id: number | null
  version: number | null
  op_id?: string
  error?: string
  code?: string
  current?: { id: number }
}

export interface Push {
  operations: Operation[]
  cursor?: number
}

export interface Pushed {
  results: Outcome[]
  cursor: number
  contiguous: boolean
}

type Verb = 'INSERT' | 'UPDATE' | 'DELETE'

/** An operation that passed every check which needs no database. */
interface Sound {
  table: TableName
  verb: Verb
  id: number
  values: Record<string, Stored>
  baseVersion: number | undefined
}

/** What an operation came to; `changed` when it moves the feed. */
interface Effect {
  id: number
  version: number | null
  changed: boolean
  deleted?: boolean
}

/** The caller's mistake in one operation: its result, never that of the others. */
class Rejected extends Error {
  readonly code: string
  readonly current: SyncedRowOf | undefined
  readonly id: number | undefined

  constructor(code: string, message: string, id?: number, current?: SyncedRowOf) {
    super(message)
    this.code = code
    this.id = id
    this.current = current
  }
}

const rowTables = new Map<string, RowTable>(shapes.map((shape) => [shape.name, rowTable(shape)]))

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const OP_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

const isOpId = (value: unknown): value is string => typeof value === 'string' && OP_ID.test(value)

const isVersion = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

const isRowId = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0

/** What forbids even to look for the operation's op_id, undefined when nothing does. */
function misshape(operation: unknown): Rejected | undefined {
  if (!isObject(operation)) return new Rejected('bad_operation', 'An operation must be an object.')
  const { op_id: op } = operation
  return op === undefined || isOpId(op) ? undefined : new Rejected('bad_value', 'op_id must be a UUID.')
}

function check({ table, operation, data, base_version }: Operation): Sound {
  if (typeof table !== 'string' || !isWritable(table)) {
    const known = typeof table === 'string' && Object.hasOwn(readOnlyTables, table)
    throw known
      ? new Rejected('read_only', `${table} cannot be changed by push.`)
      : new Rejected('unknown_table', 'There is no such table.')
  }
  if (operation !== 'INSERT' && operation !== 'UPDATE' && operation !== 'DELETE') {
    throw new Rejected('bad_operation', 'operation must be INSERT, UPDATE or DELETE.')
  }
  if (!isObject(data)) throw new Rejected('bad_value', 'data must be an object.')
  if (base_version !== undefined && !isVersion(base_version)) {
    throw new Rejected('bad_value', 'base_version must be a whole number.')
  }
  const sound = { table, verb: operation as Verb, values: {}, baseVersion: base_version }
  if (operation === 'INSERT') return { ...sound, id: 0, values: valuesOf(table, 'new', data) }
  const { id, ...columns } = data
  if (!isRowId(id)) throw new Rejected('bad_value', 'data.id must be the id of a row.')
  return { ...sound, id, values: operation === 'UPDATE' ? valuesOf(table, 'change', columns) : {} }
}

function valuesOf(table: TableName, kind: 'new' | 'change', data: Record<string, unknown>): Record<string, Stored> {
  const refusal = refuse(table, kind, data)
  if (refusal) throw new Rejected(refusal.code, refusal.error)
  return Object.fromEntries(Object.entries(data).map(([column, value]) => [column, toStored(table, column, value)]))
}

async function perform(tx: Writer, user: number, operation: Operation, now: string): Promise<Effect> {
  const { table, verb, id, values, baseVersion } = check(operation)
  const rows = rowTables.get(table)!
  if (verb === 'INSERT') return { id: await rows.insert(tx, user, values, now), version: 1, changed: true }

  const version = await rows.version(tx, user, id)
  if (version === undefined) {
    if (verb === 'DELETE') return { id, version: null, changed: false }
    throw new Rejected('gone', 'The row does not exist any more.', id)
  }
  if (baseVersion !== undefined && baseVersion !== version) {
    const current = (await rows.get(tx, user, id))!
    toWire(table)(current)
    throw new Rejected('conflict', `The row is at version ${version} by now.`, id, current)
  }
  if (verb === 'DELETE') {
    await rows.remove(tx, id)
    return { id, version: null, changed: true, deleted: true }
  }
  if (Object.keys(values).length === 0) return { id, version, changed: false }
  await rows.update(tx, id, values, now)
  return { id, version: version + 1, changed: true }
}

function outcomeOf(index: number, operation: Operation, effect: Effect | Rejected): Outcome {
  const named = {
    table: typeof operation.table === 'string' ? operation.table : null,
    operation: typeof operation.operation === 'string' ? operation.operation : null,
  }
  const op = isOpId(operation.op_id) ? { op_id: operation.op_id } : {}
  if (!(effect instanceof Rejected)) {
    return { index, ok: true, status: 'applied', ...named, id: effect.id, version: effect.version, ...op }
  }
  const { code, message: error, current, id = null } = effect
  const status = code === 'conflict' ? 'conflict' : 'error'
  const version = current ? (current['version'] as number) : null
  return { index, ok: false, status, ...named, id, version, ...op, error, code, ...(current ? { current } : {}) }
}

/** A hash that is the same for equal JSON values, whatever the order of their keys. */
function payloadHash(value: unknown): string {
  const sorted = (_key: string, part: unknown) =>
    isObject(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part
  return createHash('sha256').update(JSON.stringify(value, sorted)).digest('hex')
}

/** One operation with its `op_id`: a repetition answers the stored result and writes nothing. */
async function once(tx: Writer, user: number, index: number, operation: Operation, now: number) {
  const misshapen = misshape(operation)
  if (misshapen) return { outcome: outcomeOf(index, operation ?? {}, misshapen), effect: undefined }
  const op = operation.op_id as string | undefined
  const hash = op ? payloadHash({ ...operation, op_id: undefined }) : ''
  const before = op ? await pushedOperation(tx, user, op) : undefined
  if (before) {
    if (before.payload_hash === hash) {
      const stored = JSON.parse(before.result) as Outcome
      return {
        outcome: { ...stored, index, ...(stored.ok ? { status: 'duplicate' as const } : {}) },
        effect: undefined,
      }
    }
    const rejected = new Rejected('op_id_reuse', 'The op_id was used for another operation.')
    return { outcome: outcomeOf(index, operation, rejected), effect: undefined }
  }
  // Whatever refuses an operation does so before its one writing statement: nothing of it is left to undo.
  const effect = await perform(tx, user, operation, new Date(now).toISOString()).catch((error: unknown) => {
    if (error instanceof Rejected) return error
    throw error
  })
  const outcome = outcomeOf(index, operation, effect)
  // Only what was done is remembered: a refused operation changed nothing and may be sent again, mended.
  if (op && outcome.ok) {
    await rememberOperation(tx, {
      user_id: user,
      op_id: op,
      payload_hash: hash,
      result: JSON.stringify(outcome),
      created_at: now,
    })
  }
  return { outcome, effect: effect instanceof Rejected || !effect.changed ? undefined : effect }
}

/** All operations of one push, and where the feed is after them. */
async function apply(tx: Writer, user: number, { operations, cursor }: Push, now: number): Promise<Pushed> {
  const before = (await headOf(tx, user))!.seq
  const results: Outcome[] = []
  const moved: { table: string; effect: Effect }[] = []
  for (const [index, operation] of operations.entries()) {
    const { outcome, effect } = await once(tx, user, index, operation, now)
    results.push(outcome)
    if (effect) moved.push({ table: outcome.table!, effect })
  }
  let head = before
  if (moved.length > 0) {
    head = (await advance(tx, user, moved.length)).seq
    let seq = head - moved.length
    for (const { table, effect } of moved) {
      await recordAt(tx, ++seq, now, { user, table, row: effect.id, deleted: effect.deleted === true })
    }
  }
  // A client that took over a cursor past rows of others would never see them.
  const contiguous = cursor === undefined || cursor === before
  return { results, cursor: contiguous ? head : cursor, contiguous }
}

/** Applying what clients push. */
export const makePush = ({ database, clock, news }: { database: Database; clock: Clock; news: News }) => ({
  /**
   * Applies up to 100 operations in one transaction, each on its own. With `key` (Idempotency-Key) a repetition of the
   * whole request gets the first answer. Faults: `too_many_operations`, `idempotency_key_reuse`.
   */
  async push(user: number, push: Push, key?: string): Promise<Pushed> {
    if (push.operations.length > PUSH_OPERATIONS) throw fault('too_many_operations')
    const pushed = await database.write(async (tx) => {
      const now = clock.now()
      if (!key) return apply(tx, user, push, now)
      const payload_hash = payloadHash(push)
      const before = await keyedAnswer(tx, user, key)
      if (before && before.payload_hash !== payload_hash) throw fault('idempotency_key_reuse')
      if (before) return JSON.parse(before.answer) as Pushed
      const answer = await apply(tx, user, push, now)
      await rememberAnswer(tx, {
        user_id: user,
        key,
        payload_hash,
        answer: JSON.stringify(answer),
        created_at: now,
      })
      return answer
    })
    news.announce(user)
    return pushed
  },
})
