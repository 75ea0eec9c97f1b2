import { tables, type Column, type TableName } from '../../../contract/tables.ts'
import { exchangeOf, loadExchange, type ExchangeName } from '../../../client/rows/file-formats.ts'
import { importWords } from '../../../client/rows/import-words.ts'
import { withKnownRows } from '../../../client/rows/known-rows.ts'
import type { Candidate, ImportedFile, Left } from '../../../client/rows/row-files.ts'
import { describeError } from '../api-error.ts'
import { language } from '../language.ts'
import { ownZone } from '../local-day.ts'
import type { ImportTarget } from './import-target.ts'
import { changeRows, errorOf, pushRows, type Operation } from '../push-rows.ts'
import { uuid } from '../rows.ts'

/** Largest file that is read here, bytes: a page stands still meanwhile. `svc data import` takes larger ones. */
export const MAX_FILE = 10 * 1_048_576

export interface ImportResult {
  /** IDs of the new rows. */
  added: number[]
  updated: number
  /** What could not be imported, such as `event 3: it has no beginning.` */
  problems: string[]
  /** What of imported rows is not taken over. */
  notes: string[]
  left: Left
}

export const emptyResult = (): ImportResult => ({ added: [], updated: 0, problems: [], notes: [], left: {} })

/** Leaves out the rows of a file that are there already. */
function withoutEqual(table: TableName, candidates: readonly Candidate[], rows: readonly object[]): Candidate[] {
  const columns = Object.entries<Column>(tables[table].columns)
  const key = (values: Record<string, unknown>): string =>
    JSON.stringify(columns.map(([name, column]) => values[name] ?? column.default ?? null))
  return withKnownRows(candidates, rows as Record<string, unknown>[], {
    keysOf: (values) => [key(values)],
    isUnchanged: () => true,
  })
}

/** The formats of a table that can be imported. */
export const formatOfFile = (text: string, formats: readonly ExchangeName[]): ExchangeName | 'rows' | undefined => {
  const format = exchangeOf(text)
  if (format !== undefined) return formats.includes(format) ? format : undefined
  return 'rows'
}

interface FileText {
  table: TableName
  text: string
  format: ExchangeName | 'rows'
  rows: readonly object[]
}

/** What a file contains. */
export interface FileRows extends ImportedFile {
  /** What is not there yet, or has changed; rows that are there have an `id`. */
  fresh: Candidate[]
}

/** Reads a file in the language of the desktop. Throws `BadRow` for one that is not what it seems. */
export async function readFileRows({ table, text, format, rows }: FileText): Promise<FileRows> {
  const words = language.value === 'de' ? (await import('./german-import-words.ts')).germanImportWords : importWords
  const sound = ({ problems }: Candidate): boolean => problems.length === 0
  if (format === 'rows') {
    const { readCandidates } = await import('../../../client/rows/row-files.ts')
    const candidates = readCandidates(table, text, false, undefined, false, words)
    return { candidates, left: {}, fresh: withoutEqual(table, candidates.filter(sound), rows) }
  }
  const exchange = await loadExchange(format, table, 'read')
  const { candidates, left } = exchange.read(text, ownZone(), words)
  const known = rows as Record<string, unknown>[]
  return { candidates, left, fresh: exchange.withKnown(candidates.filter(sound), known) }
}

/** Adds rows to a place, and updates those that are known where they are. `result` grows while they are sent. */
export async function sendRows(
  table: TableName,
  { candidates, left, fresh }: FileRows,
  { fieldsOf }: ImportTarget,
  result: ImportResult,
): Promise<void> {
  result.left = left
  for (const { where, problems, notes = [] } of candidates) {
    result.problems.push(...problems.map((problem) => `${where}: ${problem}`))
    if (problems.length === 0) result.notes.push(...notes.map((note) => `${where}: ${note}`))
  }
  const operations = fresh.map(({ id, values }): Operation => ({
    table,
    op_id: uuid(),
    ...(id === undefined
      ? { operation: 'INSERT', data: { ...values, ...fieldsOf(values) } }
      : { operation: 'UPDATE', data: { ...values, id } }),
  }))
  await pushRows(operations, (answer, index) => {
    const { where, id } = fresh[index]!
    const error = errorOf(answer)
    if (error) result.problems.push(`${where}: ${describeError(error)}`)
    else if (id === undefined) result.added.push(answer.id!)
    else result.updated++
  })
}

/** Removes the rows that an import has added. */
export const removeImported = (table: TableName, ids: readonly number[]): Promise<void> =>
  changeRows(ids.map((id) => ({ table, op_id: uuid(), operation: 'DELETE', data: { id } })))
