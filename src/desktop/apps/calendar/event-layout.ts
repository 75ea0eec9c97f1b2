/** A stretch of a day, minutes after midnight. */
export interface Stretch {
  begin: number
  end: number
}

export interface Placed<S extends Stretch> {
  of: S
  /** Left edge and width as fractions of the day's width. */
  left: number
  width: number
}

/** Stretches shorter than this take this much room, minutes. */
export const MIN_MINUTES = 25

const endOf = ({ begin, end }: Stretch): number => Math.max(end, begin + MIN_MINUTES)

const overlaps = (a: Stretch, b: Stretch): boolean => a.begin < endOf(b) && b.begin < endOf(a)

/** Places the stretches of one day so that those that overlap are side by side. */
export function placeSideBySide<S extends Stretch>(stretches: readonly S[]): Placed<S>[] {
  const placed: Placed<S>[] = []
  let columns: S[][] = []
  let clusterEnd = -Infinity

  // A column of a cluster is as wide as the others; a stretch also takes the free columns at its right.
  const finish = (): void => {
    columns.forEach((column, index) => {
      for (const of of column) {
        const blocked = columns.findIndex((other, at) => at > index && other.some((one) => overlaps(one, of)))
        const right = blocked === -1 ? columns.length : blocked
        placed.push({ of, left: index / columns.length, width: (right - index) / columns.length })
      }
    })
    columns = []
  }

  for (const stretch of stretches.toSorted((a, b) => a.begin - b.begin || endOf(b) - endOf(a))) {
    if (stretch.begin >= clusterEnd) finish()
    clusterEnd = columns.length === 0 ? endOf(stretch) : Math.max(clusterEnd, endOf(stretch))
    const free = columns.find((column) => endOf(column.at(-1)!) <= stretch.begin)
    if (free) free.push(stretch)
    else columns.push([stretch])
  }
  finish()
  return placed
}

/** First and last day, `YYYY-MM-DD`. */
export interface DayRange {
  first: string
  last: string
}

export interface Bar<R extends DayRange> {
  of: R
  lane: number
  /** Index of the first day in the row. */
  from: number
  days: number
  /** Whether it begins before or ends after the row. */
  isCutAtStart: boolean
  isCutAtEnd: boolean
}

/** Places ranges of days as bars in a row of consecutive days: no two bars of a lane share a day. */
export function placeBars<R extends DayRange>(row: readonly string[], ranges: readonly R[]): Bar<R>[] {
  const [start, end] = [row[0]!, row.at(-1)!]
  const lanes: string[] = []
  return ranges
    .filter(({ first, last }) => first <= end && last >= start)
    .toSorted((a, b) => a.first.localeCompare(b.first) || b.last.localeCompare(a.last))
    .map((of) => {
      const first = of.first < start ? start : of.first
      const last = of.last > end ? end : of.last
      const free = lanes.findIndex((busyUntil) => busyUntil < first)
      const lane = free === -1 ? lanes.length : free
      lanes[lane] = last
      const from = row.indexOf(first)
      return {
        of,
        lane,
        from,
        days: row.indexOf(last) - from + 1,
        isCutAtStart: of.first < start,
        isCutAtEnd: of.last > end,
      }
    })
}
