import { iso } from '../../base/clock.ts'
import { isWritable, tables, type Column } from '../../contract/tables.ts'
import type { Row } from '../rows/row-values.ts'
import type { Base } from './replica-base.ts'
import type { Queue } from './change-queue.ts'
import type { ServerRow, Waiting } from './replica-records.ts'

/** The columns of a new row with the server's defaults. */
export function filled(table: string, values: Row): Row {
  if (!isWritable(table)) return values
  const columns = Object.entries<Column>(tables[table].columns).filter(([, { private: hidden }]) => !hidden)
  return { ...Object.fromEntries(columns.map(([name, column]) => [name, column.default ?? null])), ...values }
}

function applyChange(rows: Map<number, Row>, { table, verb, row, values, at }: Waiting): void {
  const updated_at = iso(at)
  if (verb === 'INSERT') {
    rows.set(row, { id: row, version: 0, created_at: updated_at, updated_at, ...filled(table, values) })
  } else if (verb === 'DELETE') rows.delete(row)
  else {
    const before = rows.get(row)
    if (before) rows.set(row, { ...before, ...values, updated_at })
  }
}

/** The local view of rows: those of the server with the queue applied. */
export const makeView = (base: Base, queue: Queue) => ({
  rows(table: string): Row[] {
    const rows = new Map<number, Row>(base.rows(table).map((row) => [row.id, row]))
    for (const waiting of queue.of(table)) applyChange(rows, waiting)
    return [...rows.values()]
  },

  /** A row; `id` may be its former local ID. */
  row(table: string, id: number): Row | undefined {
    const at = queue.resolve(id)
    const known: ServerRow | undefined = base.row(table, at)
    const rows = new Map<number, Row>(known ? [[at, known]] : [])
    for (const waiting of isWritable(table) ? queue.ofRow(table, at) : []) applyChange(rows, waiting)
    return rows.get(at)
  },
})
