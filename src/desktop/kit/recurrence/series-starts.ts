interface SeriesRow {
  rrule: string | null
  rdates?: string[] | null | undefined
  recurrence_id?: string | null | undefined
}

/** Whether an event takes place more than once: by a rule, or only at additional times. */
export const isSeries = ({ rrule, rdates, recurrence_id }: SeriesRow): boolean =>
  (rrule ?? rdates ?? null) !== null && !recurrence_id

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
