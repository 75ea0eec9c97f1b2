import { isSound } from '../../base/text.ts'
import {
  feedTables,
  isWritable,
  readOnlyTables,
  tables,
  type Column,
  type FeedTable,
  type SyncedTable,
  type TableName,
} from '../../contract/tables.ts'
import { importWords, type ImportWords } from './import-words.ts'

export type Row = Record<string, unknown>

/** Invalid input about tables or rows; the message says what would be valid. */
export class BadRow extends Error {
  override name = 'BadRow'
  readonly exitCode = 2
}

/** Columns that every table has; the server sets them. */
export const SYSTEM_COLUMNS = ['id', 'created_at', 'updated_at', 'version'] as const

/** The table of a name; `notes` means `svc_notes`. */
export function tableNamed(name: string): FeedTable {
  const found = feedTables.find((table) => table === name || table === `svc_${name}`)
  if (!found) throw new BadRow(`There is no table "${name}": svc data tables lists them.`)
  return found
}

/** The same, for a table that can be changed. */
export function writableTable(name: string): TableName {
  const table = tableNamed(name)
  if (!isWritable(table)) throw new BadRow(`Rows of ${table} are written by other commands, not by svc data.`)
  return table
}

/** The table's own columns, without the common ones. */
export function columnsOf(table: FeedTable): string[] {
  if (!isWritable(table)) return [...readOnlyTables[table].columns]
  return Object.entries<Column>(tables[table].columns).flatMap(([name, { private: hidden }]) => (hidden ? [] : [name]))
}

/** Parses `column=value` pairs into a row with the types of the table. */
export function rowFrom(table: TableName, pairs: readonly string[]): Row {
  const row: Row = {}
  for (const pair of pairs) {
    const [column, text] = splitPair(pair)
    if (Object.hasOwn(row, column)) throw new BadRow(`"${column}" is given twice.`)
    row[column] = valueFrom(declared(table, column), text, column)
  }
  return row
}

/** Splits `column=value` at the first equals sign. Throws `BadRow`. */
export function splitPair(pair: string): [column: string, value: string] {
  const at = pair.indexOf('=')
  if (at < 1) throw new BadRow(`"${pair}" is not of the form column=value.`)
  return [pair.slice(0, at), pair.slice(at + 1)]
}

/** Parses the value of a column: `true`, `12`, `2026-11-21`, JSON. An empty text, or `null` in a non-text column, is null. */
export function valueFrom(column: Column, text: string, name: string, words = importWords): unknown {
  if (column.type === 'text') return text
  if (text === '' || text === 'null') return null
  const value = typed(column, text)
  if (value === undefined) throw new BadRow(wrong(name, column, text, words))
  return value
}

/** Problems of a row to add, or of columns to change, a sentence each. The server checks again. */
export function problemsOf(table: TableName, kind: 'new' | 'change', row: Row, words = importWords): string[] {
  const all: Record<string, Column> = (tables[table] as SyncedTable).columns
  const unknown = Object.keys(row).filter((name) => !columnsOf(table).includes(name))
  const missing = Object.entries(all).filter(
    ([name, { required }]) => kind === 'new' && required && !Object.hasOwn(row, name),
  )
  const bad = Object.entries(row).filter(([name, value]) => all[name] && !fits(all[name], value))
  return [
    ...unknown.map((name) => words.no_column(table, name, columnsOf(table).join(', '))),
    ...missing.map(([name]) => words.is_missing(name)),
    ...bad.map(([name, value]) => wrong(name, all[name]!, value, words)),
  ]
}

function declared(table: TableName, name: string): Column {
  const columns: Record<string, Column> = tables[table].columns
  const column = Object.hasOwn(columns, name) ? columns[name] : undefined
  if (!column || column.private) {
    throw new BadRow(`${table} has no column "${name}": it has ${columnsOf(table).join(', ')}.`)
  }
  return column
}

const BOOLEANS: Record<string, boolean> = { true: true, yes: true, '1': true, false: false, no: false, '0': false }

function typed({ type }: Column, text: string): unknown {
  switch (type) {
    case 'integer':
    case 'real':
      return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : undefined
    case 'boolean':
      return BOOLEANS[text.toLowerCase()]
    case 'texts':
      return fromJson(text)
    default:
      return text
  }
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The caller knows the name of the column and reports the error.
    return undefined
  }
}

function fits(column: Column, value: unknown): boolean {
  if (value === null) return !column.required && column.default === undefined
  const { min = -Number.MAX_VALUE, max } = column
  if (!isStorable(value)) return false
  switch (column.type) {
    case 'integer':
      return Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= (max ?? Number.MAX_VALUE)
    case 'real':
      return Number.isFinite(value) && (value as number) >= min && (value as number) <= (max ?? Number.MAX_VALUE)
    case 'boolean':
      return typeof value === 'boolean'
    case 'texts':
      return isListOfTexts(value, column) && JSON.stringify(value).length <= (max ?? Infinity)
    case 'date':
      return typeof value === 'string' && isDate(value)
    case 'timestamp':
      return typeof value === 'string' && isTimestamp(value)
    case 'text':
      return typeof value === 'string' && isText(column, value)
  }
}

const isListOfTexts = (value: unknown, { pattern }: Column): boolean =>
  Array.isArray(value) &&
  value.every(
    (text) => typeof text === 'string' && isText({ type: 'text', max: 500, ...(pattern ? { pattern } : {}) }, text),
  )

/** Whether every text in a value can be stored, including field names. */
function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return isSound(value)
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(([name, part]) => isSound(name) && isStorable(part))
}

const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/

function isDate(text: string): boolean {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : NaN
  // A date is valid if it survives the conversion: February 30 becomes March 2.
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}

const isTimestamp = (text: string): boolean =>
  TIMESTAMP.test(text) && !Number.isNaN(Date.parse(text)) && isDate(text.slice(0, 10))

function isText({ values, pattern, max = Infinity }: Column, text: string): boolean {
  if (values && !values.includes(text)) return false
  const isShort = text.length <= max || [...text].length <= max
  return isShort && (pattern === undefined || new RegExp(pattern).test(text))
}

function wrong(name: string, column: Column, value: unknown, words: ImportWords): string {
  const shown = typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value))
  return words.must_be(name, described(column, words), shown.length > 60 ? `${shown.slice(0, 60)}…` : shown)
}

/** Describes a column's values: `a whole number from 0 to 9`. */
function described({ type, values, pattern, min, max }: Column, words: ImportWords): string {
  const range = min !== undefined && max !== undefined && max < 1e9 ? words.range(min, max) : ''
  switch (type) {
    case 'integer':
      return words.whole_number(range)
    case 'real':
      return words.number(range)
    case 'boolean':
      return words.boolean
    case 'texts':
      if (pattern) return words.texts_like(pattern, max)
      return words.texts(max)
    case 'date':
      return words.date
    case 'timestamp':
      return words.timestamp
    case 'text':
      if (values) return words.one_of(values)
      if (pattern) return words.text_like(pattern)
      return words.text(max)
  }
}
