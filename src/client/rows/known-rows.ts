import type { Candidate } from './row-files.ts'
import type { Row } from './row-values.ts'

interface Identity {
  /** What identifies a row of a file in all programs, the surest first. */
  keysOf(values: Row): readonly string[]
  /** Whether a row is what a file says of it. */
  isUnchanged(row: Row, values: Row): boolean
}

/**
 * Makes candidates that exist already changes of their rows; those that differ in nothing are left out. Broken programs give
 * several one identity: each of them then belongs to a row of its own.
 */
export function withKnownRows(
  candidates: readonly Candidate[],
  rows: readonly Row[],
  { keysOf, isUnchanged }: Identity,
): Candidate[] {
  const known = new Map<string, Row[]>()
  for (const row of rows.toSorted((a, b) => Number(a['id']) - Number(b['id'])))
    for (const key of keysOf(row)) {
      const same = known.get(key)
      if (same) same.push(row)
      else known.set(key, [row])
    }
  const taken = new Set<Row>()
  const take = ({ values }: Candidate, isMatch: (row: Row) => boolean): Row | undefined => {
    const row = keysOf(values)
      .flatMap((key) => known.get(key) ?? [])
      .find((one) => !taken.has(one) && isMatch(one))
    if (row) taken.add(row)
    return row
  }
  const changed = candidates.filter((candidate) => !take(candidate, (row) => isUnchanged(row, candidate.values)))
  return changed.map((candidate) => {
    const row = take(candidate, () => true)
    return row ? { ...candidate, id: row['id'] as number, replaces: Number(row['version']) } : candidate
  })
}
