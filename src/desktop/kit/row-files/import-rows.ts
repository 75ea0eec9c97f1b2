import { tables, type Column, type TableName } from '../../../contract/tables.ts'
import { exchangeOf, loadExchange, type ExchangeName } from '../../../client/rows/file-formats.ts'
import { importWords } from '../../../client/rows/import-words.ts'
import { withKnownRows } from '../../../client/rows/known-rows.ts'
import type { Candidate, ImportedFile, Left } from '../../../client/rows/row-files.ts'
import { ApiError, describeError } from '../api-error.ts'
import { language } from '../language.ts'
import { ownZone } from '../local-day.ts'
import type { ImportTarget } from './import-target.ts'
import { pushRows } from '../push-rows.ts'
import { uuid } from '../rows.ts'

/** Largest file that is read here, bytes: a page stands still meanwhile. `svc data import` takes larger ones. */
export const MAX_FILE = 10 * 1_048_576

/** Most rows of a request, and most characters of their values. */
const BATCH = 50
const BATCH_SIZE = 2_000_000

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

function* batchesOf(candidates: readonly Candidate[]): Generator<Candidate[]> {
  let batch: Candidate[] = []
  let size = 0
  for (const candidate of candidates) {
    const length = JSON.stringify(candidate.values).length
    if (batch.length === BATCH || (batch.length > 0 && size + length > BATCH_SIZE)) {
      yield batch
      batch = []
      size = 0
    }
    batch.push(candidate)
    size += length
  }
  if (batch.length > 0) yield batch
}

async function send(table: TableName, batch: readonly Candidate[], result: ImportResult): Promise<void> {
  const results = await pushRows(
    batch.map(({ id, values }) => ({
      table,
      op_id: uuid(),
      ...(id === undefined
        ? { operation: 'INSERT' as const, data: values }
        : { operation: 'UPDATE' as const, data: { ...values, id } }),
    })),
  )
  for (const [index, { status, id, code, error }] of results.entries()) {
    const { where, id: known } = batch[index]!
    if (status === 'error' || status === 'conflict') {
      const reason = describeError(new ApiError({ code: code ?? status, message: error ?? '' }))
      result.problems.push(`${where}: ${reason}`)
    } else if (known === undefined) result.added.push(id!)
    else result.updated++
  }
}

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

interface Imported {
  place: ImportTarget['place']
  table: TableName
  text: string
  format: ExchangeName | 'rows'
  rows: readonly object[]
}

/** Reads a file in the language of the desktop. Throws `BadRow` for one that is not what it seems. */
export async function readFileRows({
  place,
  table,
  text,
  format,
  rows,
}: Imported): Promise<ImportedFile & { fresh: Candidate[] }> {
  const words = language.value === 'de' ? (await import('./german-import-words.ts')).germanImportWords : importWords
  const sound = ({ problems }: Candidate): boolean => problems.length === 0
  if (format === 'rows') {
    const { readCandidates } = await import('../../../client/rows/row-files.ts')
    const candidates = readCandidates(table, text, false, undefined, false, words)
    return { candidates, left: {}, fresh: withoutEqual(table, place(candidates.filter(sound)), rows) }
  }
  const exchange = await loadExchange(format, table, 'read')
  const { candidates, left } = exchange.read(text, ownZone(), words)
  const placed = place(candidates.filter(sound))
  return { candidates, left, fresh: exchange.withKnown(placed, rows as Record<string, unknown>[]) }
}

/** Adds rows, and updates those that are known. `result` grows while they are sent. */
export async function sendRows(table: TableName, file: ImportedFile & { fresh: Candidate[] }, result: ImportResult) {
  result.left = file.left
  for (const { where, problems, notes = [] } of file.candidates) {
    result.problems.push(...problems.map((problem) => `${where}: ${problem}`))
    if (problems.length === 0) result.notes.push(...notes.map((note) => `${where}: ${note}`))
  }
  for (const batch of batchesOf(file.fresh)) await send(table, batch, result)
}

/** Removes the rows that an import has added. */
export async function removeImported(table: TableName, ids: readonly number[]): Promise<void> {
  for (let from = 0; from < ids.length; from += BATCH) {
    await pushRows(
      ids.slice(from, from + BATCH).map((id) => ({ table, op_id: uuid(), operation: 'DELETE' as const, data: { id } })),
    )
  }
}
