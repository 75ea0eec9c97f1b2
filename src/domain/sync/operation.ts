import { isWritable, readOnlyTables, type TableName } from '../../contract/tables.ts'
import type { Stored, SyncedRowOf } from '../../storage/feed/rows.ts'
import { refuse } from './row-checks.ts'
import { toStored } from './table-shapes.ts'

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

type Verb = 'INSERT' | 'UPDATE' | 'DELETE'

/** An operation that passed all checks without the database. */
export interface ValidOperation {
  table: TableName
  verb: Verb
  id: number
  values: Record<string, Stored>
  baseVersion: number | undefined
}

/** The effect of an operation; `changed` if it advances the feed. */
export interface Effect {
  id: number
  version: number | null
  changed: boolean
  deleted?: boolean
}

/** A rejected operation; the others are not affected. */
export class Rejected {
  readonly code: string
  readonly error: string
  readonly id: number | null
  readonly current: SyncedRowOf | undefined

  constructor(code: string, error: string, id: number | null = null, current?: SyncedRowOf) {
    this.code = code
    this.error = error
    this.id = id
    this.current = current
  }
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const OP_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

const isOpId = (value: unknown): value is string => typeof value === 'string' && OP_ID.test(value)

const isVersion = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

const isRowId = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0

/** Why an operation is so malformed that its op_id is not looked up; undefined if it is not. */
export function malformed(operation: unknown): Rejected | undefined {
  if (!isObject(operation)) return new Rejected('bad_operation', 'An operation must be an object.')
  const { op_id: op } = operation
  return op === undefined || isOpId(op) ? undefined : new Rejected('bad_value', 'op_id must be a UUID.')
}

/** Checks everything that does not need the database. */
export function check({ table, operation: verb, data, base_version }: Operation): ValidOperation | Rejected {
  if (typeof table !== 'string' || !isWritable(table)) {
    const isKnown = typeof table === 'string' && Object.hasOwn(readOnlyTables, table)
    return isKnown
      ? new Rejected('read_only', `${table} cannot be changed by push.`)
      : new Rejected('unknown_table', 'There is no such table.')
  }
  if (verb !== 'INSERT' && verb !== 'UPDATE' && verb !== 'DELETE')
    return new Rejected('bad_operation', 'operation must be INSERT, UPDATE or DELETE.')
  if (!isObject(data)) return new Rejected('bad_value', 'data must be an object.')
  if (base_version !== undefined && !isVersion(base_version))
    return new Rejected('bad_value', 'base_version must be a whole number.')
  if (verb === 'INSERT') return withValues({ table, verb, id: 0, baseVersion: base_version }, 'new', data)
  const { id, ...columns } = data
  if (!isRowId(id)) return new Rejected('bad_value', 'data.id must be the id of a row.')
  const sound: Omit<ValidOperation, 'values'> = { table, verb, id, baseVersion: base_version }
  return verb === 'UPDATE' ? withValues(sound, 'change', columns) : { ...sound, values: {} }
}

function withValues(
  sound: Omit<ValidOperation, 'values'>,
  kind: 'new' | 'change',
  data: Record<string, unknown>,
): ValidOperation | Rejected {
  const refusal = refuse(sound.table, kind, data)
  if (refusal) return new Rejected(refusal.code, refusal.error)
  const values: Record<string, Stored> = {}
  for (const column of Object.keys(data)) values[column] = toStored(sound.table, column, data[column])
  return { ...sound, values }
}

/** The result sent to the client. */
export function outcomeOf(index: number, operation: Operation, effect: Effect | Rejected): Outcome {
  const named = {
    table: typeof operation.table === 'string' ? operation.table : null,
    operation: typeof operation.operation === 'string' ? operation.operation : null,
  }
  const op = isOpId(operation.op_id) ? { op_id: operation.op_id } : {}
  if (!(effect instanceof Rejected)) {
    return { index, ok: true, status: 'applied', ...named, id: effect.id, version: effect.version, ...op }
  }
  const { code, error, current, id } = effect
  const status = code === 'conflict' ? 'conflict' : 'error'
  const version = current ? (current['version'] as number) : null
  return { index, ok: false, status, ...named, id, version, ...op, error, code, ...(current ? { current } : {}) }
}
