import { badRequest, fault, type Fault } from '../../contract/errors.ts'
import type { TableName } from '../../contract/tables.ts'
import type { Reader, Writer } from '../../storage/engine/database.ts'
import { commonColumns, rowTable } from '../../storage/feed/rows.ts'
import type { Operation, Outcome } from './operation.ts'
import { applyIn } from './push.ts'
import { shapes, toWire } from './table-shapes.ts'

type Values = Record<string, unknown>

/** The effect of one step on a row, with the data to undo it. Values have API format. */
export type RowChange =
  | { kind: 'row_added'; table: TableName; row: number; version: number }
  | { kind: 'row_changed'; table: TableName; row: number; version: number; before: Values; after: Values }
  | { kind: 'row_removed'; table: TableName; row: number; values: Values }

const rowTables = new Map(shapes.map((shape) => [shape.name, rowTable(shape)]))

/** A row of an account in API format. */
export async function rowIn(on: Reader, user: number, table: TableName, id: number): Promise<Values | undefined> {
  const row = await rowTables.get(table)!.get(on, user, id)
  if (row) toWire(table)(row)
  return row
}

function refusal({ code, error = '' }: Outcome): Fault {
  if (code === 'gone' || code === 'conflict' || code === 'quota_exceeded') return fault(code, { text: error })
  return code === 'bad_operation' ? badRequest('operation', error) : fault('bad_request', { text: error })
}

/** Checks as a push does. Faults: `bad_request`, `gone`, `conflict`, `quota_exceeded`. */
async function one(tx: Writer, user: number, operation: Operation, now: number): Promise<Outcome> {
  const [outcome] = (await applyIn(tx, user, { operations: [operation] }, now)).results
  if (!outcome!.ok) throw refusal(outcome!)
  return outcome!
}

const common: readonly string[] = commonColumns

/** The columns that the owner writes. */
export const ownValues = (row: Values): Values =>
  Object.fromEntries(Object.entries(row).filter(([name]) => !common.includes(name)))

/** Undoable changes of rows, each a step of a transaction. */
export const undoableRows = {
  async add(tx: Writer, user: number, table: TableName, values: Values, now: number): Promise<RowChange> {
    const { id } = await one(tx, user, { table, operation: 'INSERT', data: values }, now)
    return { kind: 'row_added', table, row: id!, version: 1 }
  },

  /** Fault `not_found` if the account has no such row. Undefined if nothing changed. */
  async change(
    tx: Writer,
    user: number,
    { table, row, values, version }: { table: TableName; row: number; values: Values; version?: number },
    now: number,
  ): Promise<RowChange | undefined> {
    const stored = await rowIn(tx, user, table, row)
    if (!stored) throw fault('not_found', { text: `There is no row ${row} in ${table}.` })
    const base = version === undefined ? {} : { base_version: version }
    const outcome = await one(tx, user, { table, operation: 'UPDATE', data: { ...values, id: row }, ...base }, now)
    const before = Object.fromEntries(Object.keys(values).map((name) => [name, stored[name]]))
    if (outcome.version === stored['version']) return undefined
    return { kind: 'row_changed', table, row, version: outcome.version!, before, after: values }
  },

  /** Undoes a change and returns the resulting change. Faults: `conflict` if the row changed since, `gone`. */
  async undo(tx: Writer, user: number, change: RowChange, now: number): Promise<RowChange | undefined> {
    const { table, row } = change
    if (change.kind === 'row_removed') return undoableRows.add(tx, user, table, change.values, now)
    const stored = await rowIn(tx, user, table, row)
    if (!stored) throw fault('gone', { text: 'The row has been removed since.' })
    if (stored['version'] !== change.version) throw fault('conflict', { text: 'The row has changed since.' })
    if (change.kind === 'row_changed')
      return undoableRows.change(tx, user, { table, row, values: change.before, version: change.version }, now)
    await one(tx, user, { table, operation: 'DELETE', data: { id: row }, base_version: change.version }, now)
    return { kind: 'row_removed', table, row, values: ownValues(stored) }
  },
}
