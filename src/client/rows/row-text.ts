import { isWritable, tables, type Column, type FeedTable } from '../../contract/tables.ts'
import { BadRow, columnsOf, splitPair, SYSTEM_COLUMNS, valueFrom, type Row } from './row-values.ts'

/** A value as text that `valueFrom` can parse; null is empty. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** The beginning of a text, without half of a character. */
export const shortened = (text: string, max: number): string => text.slice(0, max).replace(/[\uD800-\uDBFF]$/, '')

/** The filter `column=value`; an empty value matches rows without one. */
export function makeFilter(table: FeedTable, pair: string): (row: Row) => boolean {
  const [column, text] = splitPair(pair)
  const known = ['id', ...columnsOf(table), ...SYSTEM_COLUMNS.slice(1)]
  if (!known.includes(column)) throw new BadRow(`${table} has no column "${column}": it has ${known.join(', ')}.`)
  const declared: Record<string, Column> = isWritable(table) ? tables[table].columns : {}
  const wanted = declared[column] ? textOf(valueFrom(declared[column], text, column)) : text
  return (row) => textOf(row[column]) === wanted
}
