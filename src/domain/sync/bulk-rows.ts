import type { TableName } from '../../contract/tables.ts'
import { advance, recordAll, type Change } from '../../storage/feed/changes.ts'
import type { Reader, Writer } from '../../storage/engine/database.ts'
import { rowTable, type RowStamps, type RowTable, type Stored } from '../../storage/feed/rows.ts'
import { withinBound } from '../data-bounds.ts'
import { shapes, toStored, toWire } from './table-shapes.ts'

// Bulk writes of validated rows of one account, for seeds and imports, within the caller's transaction.

/** A row in API format. */
export interface WholeRow {
  table: TableName
  values: Record<string, unknown>
  /** Of an imported row. */
  stamps?: RowStamps
}

const rowTables = new Map<string, RowTable>(shapes.map((shape) => [shape.name, rowTable(shape)]))

const storedOf = (table: TableName, values: Record<string, unknown>): Record<string, Stored> =>
  Object.fromEntries(Object.entries(values).map(([column, value]) => [column, toStored(table, column, value)]))

/** Stores new rows with their changes in the feed; returns their IDs in the same order. Fault `quota_exceeded`. */
export async function insertRowsIn(
  tx: Writer,
  user: number,
  rows: readonly WholeRow[],
  now: number,
): Promise<number[]> {
  const made = new Date(now).toISOString()
  const standard = { version: 1, created_at: made, updated_at: made }
  const ids: number[] = []
  const changes: Change[] = []
  for (let first = 0; first < rows.length;) {
    const { table } = rows[first]!
    let last = first
    while (rows[last]?.table === table) last += 1
    // Consecutive rows of one table share a statement.
    const group = rows.slice(first, last)
    const adopted = group.map(({ values, stamps = standard }) => ({ values: storedOf(table, values), stamps }))
    const stored = await withinBound(tx, user, 'rows', () => rowTables.get(table)!.adopt(tx, user, adopted))
    for (const row of stored) {
      ids.push(row)
      changes.push({ table, row, deleted: false })
    }
    first = last
  }
  const { seq } = await advance(tx, user, ids.length)
  await recordAll(tx, user, seq, now, changes)
  return ids
}

/** Changes columns of a row and records it in the feed; returns its new version. */
export async function updateRowIn(
  tx: Writer,
  user: number,
  { table, id, values }: { table: TableName; id: number; values: Record<string, unknown> },
  now: number,
): Promise<number> {
  const rows = rowTables.get(table)!
  await withinBound(tx, user, 'rows', () => rows.update(tx, id, storedOf(table, values), new Date(now).toISOString()))
  const { seq } = await advance(tx, user, 1)
  await recordAll(tx, user, seq, now, [{ table, row: id, deleted: false }])
  return (await rows.version(tx, user, id))!
}

/** Rows per page, which limits memory. */
const PAGE = 500

/** All rows of an account in one table in API format, by ID. */
export async function* rowsOf(on: Reader, user: number, table: TableName): AsyncGenerator<Record<string, unknown>> {
  const convert = toWire(table)
  for (let after = 0; ;) {
    const page = await rowTables.get(table)!.after(on, user, after, PAGE)
    for (const row of page) {
      convert(row)
      yield row
    }
    if (page.length < PAGE) return
    after = page.at(-1)!.id
  }
}

export const rowVersion = (on: Reader, user: number, table: TableName, id: number): Promise<number | undefined> =>
  rowTables.get(table)!.version(on, user, id)
