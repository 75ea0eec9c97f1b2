import { tables, type Column, type TableName } from '../../contract/tables.ts'
import { BadRow, columnsOf, problemsOf, type Row } from '../rows/row-values.ts'
import type { Change, RejectedChange } from './replica-records.ts'

type Choice = 'mine' | 'theirs' | 'both'

const own = (table: TableName, row: Row | null): Row =>
  Object.fromEntries(columnsOf(table).flatMap((name) => (row && name in row ? [[name, row[name]]] : [])))

/** Appends a mark to the title, so that duplicated rows can be told apart. */
function renamed(table: TableName, values: Row, mark: string): Row {
  const columns: Record<string, Column> = tables[table].columns
  const name = ['title', 'name'].find((column) => columns[column])
  if (name === undefined || typeof values[name] !== 'string') return values
  const room = (columns[name]!.max ?? 500) - mark.length - 1
  return { ...values, [name]: `${values[name].slice(0, room).toWellFormed()} ${mark}` }
}

function insertAgain(rejectedChange: RejectedChange, known: Row | null, mark?: string): Change {
  const { table, mine } = rejectedChange
  const all = { ...own(table, known), ...mine }
  const values = mark === undefined ? all : renamed(table, all, mark)
  const problems = problemsOf(table, 'new', values)
  if (problems.length > 0)
    throw new BadRow(`${table} ${rejectedChange.row} cannot be added again: ${problems.join(' ')}`)
  return { table, verb: 'INSERT', values }
}

/**
 * The changes that keep one side of a rejected change, or both; `current` is the current row. `mark` is appended to the
 * title of a duplicated row. Throws `BadRow` for an impossible choice.
 */
export function changesFor(
  rejectedChange: RejectedChange,
  choice: Choice,
  current: Row | undefined,
  mark: string,
): Change[] {
  const { kind, table, verb, row, mine, before, theirs } = rejectedChange
  if (choice === 'theirs') return []
  const isBeside = kind === 'conflict' && verb === 'UPDATE' && current !== undefined
  if (choice === 'both') {
    if (isBeside) return [insertAgain(rejectedChange, current, mark)]
    throw new BadRow(`There are no two versions of ${table} ${row} to keep: give --mine or --theirs.`)
  }
  if (verb === 'DELETE') return current ? [{ table, verb, row, values: {} }] : []
  if (verb === 'INSERT') return [{ table, verb, values: mine }]
  return current ? [{ table, verb, row, values: mine }] : [insertAgain(rejectedChange, theirs ?? before)]
}
