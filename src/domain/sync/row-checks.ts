import { Compile, type Validator } from 'typebox/compile'
import { isSound } from '../../base/text.ts'
import { rowSchema, tables, type Column, type TableName } from '../../contract/tables.ts'

export interface Refusal {
  code: 'unknown_column' | 'bad_value'
  error: string
}

const validators = { new: new Map<TableName, Validator>(), change: new Map<TableName, Validator>() }

function validator(table: TableName, kind: 'new' | 'change'): Validator {
  let found = validators[kind].get(table)
  if (!found) validators[kind].set(table, (found = Compile(rowSchema(tables[table], kind))))
  return found
}

/** Non-existent dates, such as February 30, which JavaScript parses as March 2. */
function isImpossible(column: Column, value: unknown): boolean {
  if (typeof value !== 'string' || (column.type !== 'date' && column.type !== 'timestamp')) return false
  const day = value.slice(0, 10)
  const midnight = Date.parse(`${day}T00:00:00Z`)
  return (
    Number.isNaN(midnight) || Number.isNaN(Date.parse(value)) || new Date(midnight).toISOString().slice(0, 10) !== day
  )
}

/** Whether every text in a JSON value can be stored, including field names. */
function isSoundJson(value: unknown): boolean {
  if (typeof value === 'string') return isSound(value)
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(([name, part]) => isSound(name) && isSoundJson(part))
}

function valueProblem(column: Column, value: unknown): string | undefined {
  if (!isSoundJson(value)) return 'holds a character that cannot be stored'
  if (isImpossible(column, value)) return 'is not a day of the calendar'
  const isTooLong = column.type === 'texts' && JSON.stringify(value).length > (column.max ?? Infinity)
  return isTooLong ? `is longer than ${column.max} characters` : undefined
}

export function refuse(table: TableName, kind: 'new' | 'change', data: Record<string, unknown>): Refusal | undefined {
  const columns: Record<string, Column> = tables[table].columns
  for (const name of Object.keys(data)) {
    if (!Object.hasOwn(columns, name) || columns[name]!.private) {
      return { code: 'unknown_column', error: `${table} has no column ${JSON.stringify(name)}.` }
    }
  }
  const check = validator(table, kind)
  if (!check.Check(data)) {
    const [first] = check.Errors(data)
    const where = first?.instancePath.slice(1) || missing(columns, data) || 'data'
    return { code: 'bad_value', error: `${where} ${first?.message ?? 'is not valid'}.` }
  }
  for (const name of Object.keys(data)) {
    const problem = valueProblem(columns[name]!, data[name])
    if (problem) return { code: 'bad_value', error: `${name} ${problem}.` }
  }
  return undefined
}

const missing = (columns: Record<string, Column>, data: Record<string, unknown>): string | undefined =>
  Object.keys(columns).find((name) => columns[name]!.required && !(name in data))
