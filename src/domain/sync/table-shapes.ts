import { tables, type Column, type SyncedTable, type TableName } from '../../contract/tables.ts'
import type { TableShape } from '../../storage/engine/synchronised-tables.ts'
import type { Stored } from '../../storage/feed/rows.ts'

const storedDefault = (column: Column): string | number | null =>
  typeof column.default === 'boolean' ? Number(column.default) : (column.default ?? null)

/** The declared tables in the form that storage needs. */
export const shapes: readonly TableShape[] = Object.entries<SyncedTable>(tables).map(([name, { columns }]) => ({
  name,
  columns: Object.entries(columns).map(([column, declared]) => ({
    name: column,
    type: declared.type,
    required: declared.required === true,
    default: storedDefault(declared),
  })),
}))

const declared = (table: TableName): Record<string, Column> => tables[table].columns

/** Converts a value for storage: booleans to 0 or 1, lists to JSON. */
export function toStored(table: TableName, column: string, value: unknown): Stored {
  if (value === null) return null
  switch (declared(table)[column]!.type) {
    case 'boolean':
      return value === true ? 1 : 0
    case 'texts':
      return JSON.stringify(value)
    default:
      return value as Stored
  }
}

/** Converters from stored rows to API format, in place: rows from the driver may be modified. */
const converters = new Map<string, (row: Record<string, unknown>) => void>(
  Object.entries<SyncedTable>(tables).map(([name, { columns }]) => {
    const of = (type: Column['type']) => Object.keys(columns).filter((column) => columns[column]!.type === type)
    const hidden = Object.keys(columns).filter((column) => columns[column]!.private)
    const booleans = of('boolean')
    const documents = of('texts')
    return [
      name,
      (row) => {
        for (const column of booleans) row[column] = row[column] === 1
        for (const column of documents) if (row[column] !== null) row[column] = JSON.parse(row[column] as string)
        for (const column of hidden) delete row[column]
      },
    ]
  }),
)

/** Times that the read-only tables store as numbers. */
const TIMES = ['created_at', 'updated_at', 'timestamp', 'edited_at']

function timesToIso(row: Record<string, unknown>): void {
  for (const column of TIMES) {
    const value = row[column]
    if (typeof value === 'number') row[column] = new Date(value).toISOString()
  }
  if (row['type'] === 'directory') row['size'] = row['mtime'] = null
}

/** Converts a stored row of `table` to API format, in place. */
export const toWire = (table: string): ((row: Record<string, unknown>) => void) => converters.get(table) ?? timesToIso
