import { isDeepStrictEqual } from 'node:util'
import type { Row } from '../row-values.ts'

/** Whether a column has the same value; one that is missing has none. */
export const isSame = (one: unknown, other: unknown): boolean => isDeepStrictEqual(one ?? null, other ?? null)

/**
 * Compares a change with the row as it is on the server now, column by column: `mine` is what only this side changed,
 * `contested` what both did. Columns that have the wanted value already are in neither.
 */
export function merge(values: Row, before: Row | null, theirs: Row): { mine: Row; contested: Row } {
  const mine: Row = {}
  const contested: Row = {}
  for (const [column, value] of Object.entries(values)) {
    if (isSame(value, theirs[column])) continue
    if (before && isSame(before[column], theirs[column])) mine[column] = value
    else contested[column] = value
  }
  return { mine, contested }
}
