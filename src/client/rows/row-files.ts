import { BadCsv, formatCsv, guardFormula, parseCsv, unguardFormula, type Field } from '../../base/csv.ts'
import { tables, type Column, type FeedTable, type TableName } from '../../contract/tables.ts'
import { textOf } from './row-text.ts'
import { BadRow, columnsOf, problemsOf, SYSTEM_COLUMNS, valueFrom, type Row } from './row-values.ts'

export const ROW_FORMATS = ['json', 'jsonl', 'csv'] as const
export type RowFormat = (typeof ROW_FORMATS)[number]

/** A row of a file, validated against its table. */
export interface Candidate {
  /** For example `line 3`. */
  where: string
  /** Its number in the file, from 0; that in the list if missing. */
  position?: number
  values: Row
  /** Values of columns that the server sets. */
  id?: number
  version?: number
  /** The version of the row that an event of a calendar file was found in. */
  replaces?: number
  /** A sentence for each problem. */
  problems: string[]
  /** What of the row is not taken over, a sentence each. */
  notes?: string[]
}

interface Raw {
  where: string
  row: Row
  problems: string[]
}

/**
 * Formats rows as JSON (one array), JSON lines, or CSV with a header, where null is empty and `""` an empty text. Texts
 * that a spreadsheet would execute are escaped, unless `isRaw`.
 */
export function formatRows(table: FeedTable, rows: readonly Row[], format: RowFormat, isRaw = false): string {
  if (format === 'json') return `${JSON.stringify(rows, null, 2)}\n`
  if (format === 'jsonl') return rows.map((row) => `${JSON.stringify(row)}\n`).join('')
  const columns = ['id', ...columnsOf(table), ...SYSTEM_COLUMNS.slice(1)]
  const cell = (value: unknown): Field => {
    if (value === null || value === undefined) return null
    return typeof value === 'string' && !isRaw ? guardFormula(value) : textOf(value)
  }
  const cells = (row: Row) => columns.map((name) => cell(row[name]))
  return formatCsv([columns, ...rows.map(cells)])
}

/** Whether a file is iCalendar (RFC 5545), by its beginning. */
export const isIcs = (text: string): boolean => /^\ufeff?\s*BEGIN:VCALENDAR\s*$/im.test(text.slice(0, 200))

/** Parses a file of rows; without a format, its beginning decides. With `update`, rows may have only some columns. */
export function readCandidates(
  table: TableName,
  text: string,
  update: boolean,
  format = formatOf(text),
  isRaw = false,
): Candidate[] {
  const raws = { json: fromJson, jsonl: fromJsonLines, csv: fromCsv }[format](text, table, isRaw)
  return raws.map(({ where, row, problems }) => {
    const { id, version, created_at: _created, updated_at: _updated, ...values } = row
    const isUpdate = update && id !== undefined && id !== null
    const bad = isUpdate && !isCount(id) ? [`id must be the id of a row, not "${textOf(id)}".`] : []
    return {
      where,
      values,
      ...(isUpdate && isCount(id) ? { id } : {}),
      ...(isUpdate && isCount(version) ? { version } : {}),
      problems: [...problems, ...bad, ...problemsOf(table, isUpdate ? 'change' : 'new', values)],
    }
  })
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0

function formatOf(text: string): RowFormat {
  const first = text.replace(/^\ufeff/, '').trimStart()[0]
  return first === '[' ? 'json' : first === '{' ? 'jsonl' : 'csv'
}

function fromJson(text: string): Raw[] {
  const value = parsed(text.replace(/^\ufeff/, ''), 'The JSON')
  const rows = Array.isArray(value) ? value : [value]
  return rows.map((row: unknown, index) => rawOf(`row ${index + 1}`, row))
}

function fromJsonLines(text: string): Raw[] {
  return text
    .replace(/^\ufeff/, '')
    .split('\n')
    .flatMap((line, index) => {
      if (line.trim() === '') return []
      const where = `line ${index + 1}`
      return [rawOf(where, parsed(line, `L${where.slice(1)}`))]
    })
}

const rawOf = (where: string, row: unknown): Raw =>
  typeof row === 'object' && row !== null && !Array.isArray(row)
    ? { where, row: row as Row, problems: [] }
    : { where, row: {}, problems: ['a row must be a JSON object.'] }

function parsed(text: string, what: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new BadRow(`${what} cannot be read: ${(error as Error).message}.`)
  }
}

function fromCsv(text: string, table: TableName, isRaw: boolean): Raw[] {
  const given = (field: Field | undefined): Field => (field && !isRaw ? unguardFormula(field) : (field ?? null))
  const [header, ...records] = recordsOf(text)
  if (!header) return []
  const names = header.fields.map((name) => (name ?? '').trim())
  const columns: Record<string, Column> = tables[table].columns
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new BadRow(`Line ${header.line}: the column "${twice}" is there twice.`)
  const known = [...columnsOf(table), ...SYSTEM_COLUMNS]
  const unknown = names.find((name) => !known.includes(name))
  if (unknown !== undefined) {
    throw new BadRow(`Line ${header.line}: ${table} has no column "${unknown}": it has ${columnsOf(table).join(', ')}.`)
  }
  return records.map(({ line, fields }) => {
    const raw: Raw = { where: `line ${line}`, row: {}, problems: [] }
    if (fields.length !== names.length)
      raw.problems.push(`it has ${fields.length} fields but the first line has ${names.length}.`)
    for (const [index, name] of names.entries()) readCell(raw, name, given(fields[index]), columns[name])
    return raw
  })
}

function recordsOf(text: string) {
  try {
    return parseCsv(text)
  } catch (error) {
    if (error instanceof BadCsv) throw new BadRow(error.message)
    throw error
  }
}

function readCell({ row, problems }: Raw, name: string, field: Field, column: Column | undefined): void {
  // A required column gets its default or is reported as missing.
  const mayBeNull = column && !column.required && column.default === undefined
  if (field === null) {
    if (mayBeNull) row[name] = null
    return
  }
  if (!column) {
    row[name] = /^\d{1,15}$/.test(field) ? Number(field) : field
    return
  }
  try {
    row[name] = valueFrom(column, field, name)
  } catch (error) {
    if (!(error instanceof BadRow)) throw error
    problems.push(error.message)
  }
}
