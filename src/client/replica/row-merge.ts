import { isDeepStrictEqual } from 'node:util'
import type { Row } from '../rows/row-values.ts'

/** Whether a column has the same value; a missing one counts as null. */
export const isSame = (one: unknown, other: unknown): boolean => isDeepStrictEqual(one ?? null, other ?? null)

/**
 * Compares a change with the server's current row by column: `mine` was changed on this side only, `contested` on both.
 * Columns that already have the wanted value are in neither.
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
