import type { Candidate } from './row-files.ts'
import type { Row } from './row-values.ts'

interface Identity {
  /** What identifies a row of a file in all programs, the surest first. */
  keysOf(values: Row): readonly string[]
  /** Whether a row is what a file says of it. */
  isUnchanged(row: Row, values: Row): boolean
}

/** Most rows of one identity that a candidate is compared with. */
const MAX_COMPARED = 200

/**
 * Makes candidates that exist already changes of their rows; those that differ in nothing are left out. Broken programs give
 * several one identity: each of them then belongs to a row of its own.
 */
export function withKnownRows(
  candidates: readonly Candidate[],
  rows: readonly Row[],
  { keysOf, isUnchanged }: Identity,
): Candidate[] {
  const known = new Map<string, Set<Row>>()
  for (const row of rows.toSorted((a, b) => Number(a['id']) - Number(b['id'])))
    for (const key of keysOf(row)) {
      const same = known.get(key)
      if (same) same.add(row)
      else known.set(key, new Set([row]))
    }
  const take = ({ values }: Candidate, isMatch: (row: Row) => boolean): Row | undefined => {
    for (const key of keysOf(values)) {
      let compared = 0
      for (const row of known.get(key) ?? []) {
        if (compared++ === MAX_COMPARED) break
        if (!isMatch(row)) continue
        for (const own of keysOf(row)) known.get(own)?.delete(row)
        return row
      }
    }
    return undefined
  }
  const changed = candidates.filter((candidate) => !take(candidate, (row) => isUnchanged(row, candidate.values)))
  return changed.map((candidate) => {
    const row = take(candidate, () => true)
    return row ? { ...candidate, id: row['id'] as number, replaces: Number(row['version']) } : candidate
  })
}
