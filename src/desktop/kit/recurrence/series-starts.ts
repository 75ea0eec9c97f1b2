/** Starts of a series in order, ms: those of its rule and the added ones, without those left out or changed. */
export function seriesStarts(
  { start, added, leftOut }: { start: number; added: readonly number[]; leftOut: readonly number[] },
  expanded: readonly number[],
  changed: Iterable<number>,
): number[] {
  const starts = new Set([start, ...added, ...expanded])
  for (const dates of [leftOut, changed]) for (const date of dates) starts.delete(date)
  return [...starts].toSorted((a, b) => a - b)
}
