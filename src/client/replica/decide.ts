import { tables, type Column, type TableName } from '../../contract/tables.ts'
import { BadRow, columnsOf, flawsOf, type Row } from '../row-values.ts'
import type { Change, RejectedChange } from './records.ts'

type Choice = 'mine' | 'theirs' | 'both'

const own = (table: TableName, row: Row | null): Row =>
  Object.fromEntries(columnsOf(table).flatMap((name) => (row && name in row ? [[name, row[name]]] : [])))

/** A name that tells two rows apart which were one. */
function renamed(table: TableName, values: Row, mark: string): Row {
  const columns: Record<string, Column> = tables[table].columns
  const name = ['title', 'name'].find((column) => columns[column])
  if (name === undefined || typeof values[name] !== 'string') return values
  const room = (columns[name]!.max ?? 500) - mark.length - 1
  return { ...values, [name]: `${values[name].slice(0, room).toWellFormed()} ${mark}` }
}

/** A row of its own with all that is known of it. */
function anew(rejectedChange: RejectedChange, known: Row | null, mark?: string): Change {
  const { table, mine } = rejectedChange
  const all = { ...own(table, known), ...mine }
  const values = mark === undefined ? all : renamed(table, all, mark)
  const flaws = flawsOf(table, 'new', values)
  if (flaws.length > 0) throw new BadRow(`${table} ${rejectedChange.row} cannot be added again: ${flaws.join(' ')}`)
  return { table, verb: 'INSERT', values }
}

/**
 * What has to be done so that one side of a rejected change, or both, is kept; `current` is the row as it is now. `mark` stands behind the title of
 * a row that is kept beside another. Throws `BadRow` where a choice makes no sense.
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
    if (isBeside) return [anew(rejectedChange, current, mark)]
    throw new BadRow(`There are no two versions of ${table} ${row} to be kept: give --mine or --theirs.`)
  }
  if (verb === 'DELETE') return current ? [{ table, verb, row, values: {} }] : []
  if (verb === 'INSERT') return [{ table, verb, values: mine }]
  return current ? [{ table, verb, row, values: mine }] : [anew(rejectedChange, theirs ?? before)]
}
