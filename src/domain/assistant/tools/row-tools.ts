import { Type, type Static } from 'typebox'
import { fault } from '../../../contract/errors.ts'
import { tables, type SyncedTable, type TableName } from '../../../contract/tables.ts'
import type { Sync } from '../../sync/sync.ts'
import { undoableRows } from '../../sync/sync.ts'
import type { Tool } from './tool.ts'
import { brief, truncated, count } from './result-text.ts'
import { typedTool } from './typed-tool.ts'

type Rows = Pick<Sync, 'rows'>

const names = Object.keys(tables) as TableName[]

// Short, because it takes part of a small context window with every request.
const Table = Type.Unsafe<TableName>({ type: 'string', enum: names })
const Values = Type.Unsafe<Record<string, unknown>>(
  Type.Object({}, { additionalProperties: true, description: 'Column names with their values.' }),
)

/** Description of the tables for a model. */
const tableGuide = Object.entries<SyncedTable>(tables)
  .map(([name, { summary, columns }]) => {
    const shown = Object.entries(columns)
      .filter(([, column]) => !column.private)
      .map(
        ([column, { type, required, values }]) =>
          `${column}${values ? ` ${values.join('|')}` : type === 'text' ? '' : ` ${type}`}${required ? '*' : ''}`,
      )
    return `${name} (${summary}): ${shown.join(', ')}`
  })
  .join('\n')

const GUIDE = `Tables with their columns (* is required; text where no type is named; dates are YYYY-MM-DD, timestamps ISO 8601 UTC):\n${tableGuide}`

const relations = ['=', '!=', '<', '<=', '>', '>=', 'contains'] as const

const Filter = Type.Object({
  column: Type.String({ maxLength: 64 }),
  is: Type.Unsafe<(typeof relations)[number]>({ type: 'string', enum: relations }),
  value: Type.Union([Type.String({ maxLength: 1_000 }), Type.Number(), Type.Boolean(), Type.Null()]),
})
type Filter = Static<typeof Filter>
type Row = Record<string, unknown>

const ROWS = { default: 50, max: 200, scanned: 100_000 }
const CELL = 1_000

const common = ['id', 'version', 'created_at', 'updated_at']

const columnsOf = (table: TableName): string[] => [
  ...common,
  ...Object.entries<SyncedTable['columns'][string]>(tables[table].columns).flatMap(([name, { private: hidden }]) =>
    hidden ? [] : [name],
  ),
]

function assertColumns(table: TableName, requested: readonly string[]): void {
  const known = columnsOf(table)
  const unknown = requested.find((column) => !known.includes(column))
  if (unknown !== undefined)
    throw fault('bad_request', {
      text: `${table} has no column ${JSON.stringify(unknown)}; it has ${known.join(', ')}.`,
    })
}

const plain = (value: unknown): string | number =>
  typeof value === 'number' ? value : typeof value === 'string' ? value : (JSON.stringify(value) ?? '')

/** Compares numbers as numbers and everything else as text. Returns a negative number, 0 or a positive one. */
function compare(a: unknown, b: unknown): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? -1 : 1
  const [left, right] = [plain(a), plain(b)]
  if (typeof left === 'number' && typeof right === 'number') return left - right
  const [one, other] = [String(left), String(right)]
  return one < other ? -1 : one > other ? 1 : 0
}

function matches(row: Row, { column, is, value }: Filter): boolean {
  const cell = row[column]
  if (is === 'contains') return String(plain(cell)).toLowerCase().includes(String(value).toLowerCase())
  if (is === '=') return cell === value || (cell !== null && value !== null && compare(cell, value) === 0)
  if (is === '!=') return cell !== value
  // Null compares as neither less nor greater.
  if (cell === null || value === null) return false
  const order = compare(cell, value)
  return is === '<' ? order < 0 : is === '<=' ? order <= 0 : is === '>' ? order > 0 : order >= 0
}

const shown = (row: Row, columns: readonly string[]): string =>
  JSON.stringify(
    Object.fromEntries(
      columns.map((column) => {
        const value = row[column]
        return [column, typeof value === 'string' && value.length > CELL ? brief(value, CELL) : value]
      }),
    ),
  )

const queryTool = ({ rows }: Rows): Tool =>
  typedTool({
    name: 'query_rows',
    description: `Reads rows of the user's notes, tasks, events and other tables, as JSON lines. Long texts are shortened; ask for one row and the column to read it whole. ${GUIDE}`,
    parameters: Type.Object({
      table: Table,
      where: Type.Optional(Type.Array(Filter, { maxItems: 10, description: 'All of these hold.' })),
      columns: Type.Optional(Type.Array(Type.String({ maxLength: 64 }), { maxItems: 40 })),
      order_by: Type.Optional(Type.String({ maxLength: 64 })),
      descending: Type.Optional(Type.Boolean()),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: ROWS.max })),
    }),
    effect: 'reads',
    untrusted: true,
    async run({ account, signal }, { table, where = [], columns, order_by, descending = false, limit = ROWS.default }) {
      const selected = columns?.length ? columns : columnsOf(table)
      assertColumns(table, [...selected, ...where.map(({ column }) => column), ...(order_by ? [order_by] : [])])
      const found: Row[] = []
      let scanned = 0
      for await (const row of rows(account.id, table)) {
        signal.throwIfAborted()
        if (++scanned > ROWS.scanned) break
        if (where.every((filter) => matches(row, filter))) found.push(row)
      }
      if (order_by) found.sort((a, b) => compare(a[order_by], b[order_by]))
      if (descending) found.reverse()
      const page = found.slice(0, limit)
      const single = page.length === 1 && columns?.length
      const lines = page.map((row) =>
        single ? JSON.stringify(Object.fromEntries(columns.map((name) => [name, row[name]]))) : shown(row, selected),
      )
      const rest = found.length > page.length ? `, ${page.length} shown` : ''
      const end = scanned > ROWS.scanned ? ` [only the first ${ROWS.scanned} rows were looked at]` : ''
      return { text: truncated([`${count(found.length, 'row')}${rest}${end}`, ...lines].join('\n')) }
    },
  })

/** Tools for the user's rows in the synchronised tables. */
export const rowTools = (sync: Rows): Tool[] => [
  queryTool(sync),
  typedTool({
    name: 'insert_row',
    description: `Adds a row to one of the user's tables. The columns are those query_rows names.`,
    parameters: Type.Object({ table: Table, values: Values }),
    effect: 'alters',
    untrusted: false,
    async run({ account, changeSet }, { table, values }) {
      const [added] = await changeSet.change(async (tx, now) => [
        await undoableRows.add(tx, account.id, table, values, now),
      ])
      return { text: `Added row ${added?.kind === 'row_added' ? added.row : ''} to ${table}.` }
    },
  }),
  typedTool({
    name: 'update_row',
    description: `Changes columns of one row of the user; the others stay. Give the version that query_rows showed, so that nothing newer is overwritten.`,
    parameters: Type.Object({
      table: Table,
      id: Type.Integer({ minimum: 1 }),
      version: Type.Optional(Type.Integer({ minimum: 1 })),
      values: Values,
    }),
    effect: 'alters',
    untrusted: false,
    async run({ account, changeSet }, { table, id, version, values }) {
      const based = version === undefined ? {} : { version }
      const changes = await changeSet.change(async (tx, now) => {
        const change = await undoableRows.change(tx, account.id, { table, row: id, values, ...based }, now)
        return change ? [change] : []
      })
      return { text: changes.length === 0 ? 'No column was given: nothing changed.' : `Changed row ${id} of ${table}.` }
    },
  }),
]
