import { BadCsv, formatCsv, guardFormula, parseCsv, unguardFormula, type Field } from '../../base/csv.ts'
import { tables, type Column, type FeedTable, type TableName } from '../../contract/tables.ts'
import { importWords, type ImportWords } from './import-words.ts'
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

/** What of a file is left out, by kind. */
export interface Left {
  cancelled?: number
  pictures?: number
  attachments?: number
  groups?: number
  /** Of bookmarks, but not of web pages. */
  addresses?: number
}

/** The rows of a file that can be imported, and what is left out. */
export interface ImportedFile {
  candidates: Candidate[]
  left: Left
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
    const text = textOf(value)
    return (typeof value === 'string' || typeof value === 'object') && !isRaw ? guardFormula(text) : text
  }
  const cells = (row: Row) => columns.map((name) => cell(row[name]))
  return formatCsv([columns, ...rows.map(cells)])
}

/** Parses a file of rows; without a format, its beginning decides. With `update`, rows may have only some columns. */
export function readCandidates(
  table: TableName,
  text: string,
  update: boolean,
  format = formatOf(text),
  isRaw = false,
  words = importWords,
): Candidate[] {
  const raws = { json: fromJson, jsonl: fromJsonLines, csv: fromCsv }[format](text, table, isRaw, words)
  return raws.map(({ where, row, problems }) => {
    const { id, version, created_at: _created, updated_at: _updated, ...values } = row
    const isUpdate = update && id !== undefined && id !== null
    const bad = isUpdate && !isCount(id) ? [`id must be the id of a row, not "${textOf(id)}".`] : []
    return {
      where,
      values,
      ...(isUpdate && isCount(id) ? { id } : {}),
      ...(isUpdate && isCount(version) ? { version } : {}),
      problems: [...problems, ...bad, ...problemsOf(table, isUpdate ? 'change' : 'new', values, words)],
    }
  })
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0

function formatOf(text: string): RowFormat {
  const first = text.replace(/^\ufeff/, '').trimStart()[0]
  return first === '[' ? 'json' : first === '{' ? 'jsonl' : 'csv'
}

function fromJson(text: string, _table: TableName, _isRaw: boolean, words: ImportWords): Raw[] {
  const value = parsed(text.replace(/^\ufeff/, ''), words.broken_json)
  const rows = Array.isArray(value) ? value : [value]
  return rows.map((row: unknown, index) => rawOf(words.row(index + 1), row, words))
}

function fromJsonLines(text: string, _table: TableName, _isRaw: boolean, words: ImportWords): Raw[] {
  return text
    .replace(/^\ufeff/, '')
    .split('\n')
    .flatMap((line, index) => {
      if (line.trim() === '') return []
      const value = parsed(line, (reason) => words.broken_line(index + 1, reason))
      return [rawOf(words.line(index + 1), value, words)]
    })
}

const rawOf = (where: string, row: unknown, words: ImportWords): Raw =>
  typeof row === 'object' && row !== null && !Array.isArray(row)
    ? { where, row: row as Row, problems: [] }
    : { where, row: {}, problems: [words.no_object] }

function parsed(text: string, explain: (reason: string) => string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new BadRow(explain((error as Error).message))
  }
}

function fromCsv(text: string, table: TableName, isRaw: boolean, words: ImportWords): Raw[] {
  const given = (field: Field | undefined): Field => (field && !isRaw ? unguardFormula(field) : (field ?? null))
  const [header, ...records] = recordsOf(text, words)
  if (!header) return []
  const names = header.fields.map((name) => (name ?? '').trim())
  const columns: Record<string, Column> = tables[table].columns
  const seen = new Set<string>()
  const twice = names.find((name) => seen.has(name) || !seen.add(name))
  if (twice !== undefined) throw new BadRow(words.column_twice(header.line, twice))
  const known = [...columnsOf(table), ...SYSTEM_COLUMNS]
  const unknown = names.find((name) => !known.includes(name))
  if (unknown !== undefined) {
    throw new BadRow(words.column_unknown(header.line, unknown, table, columnsOf(table).join(', ')))
  }
  return records.map(({ line, fields }) => {
    const raw: Raw = { where: words.line(line), row: {}, problems: [] }
    if (fields.length !== names.length) raw.problems.push(words.other_fields(fields.length, names.length))
    for (const [index, name] of names.entries()) readCell(raw, name, given(fields[index]), columns[name], words)
    return raw
  })
}

function recordsOf(text: string, words: ImportWords) {
  try {
    return parseCsv(text)
  } catch (error) {
    if (error instanceof BadCsv) throw new BadRow(words.broken_csv(error.message))
    throw error
  }
}

function readCell(
  { row, problems }: Raw,
  name: string,
  field: Field,
  column: Column | undefined,
  words: ImportWords,
): void {
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
    row[name] = valueFrom(column, field, name, words)
  } catch (error) {
    if (!(error instanceof BadRow)) throw error
    problems.push(error.message)
  }
}
