/** Something measured on a day; days are counted, and may be fractions. */
export interface Point {
  day: number
  value: number
}

/** Shorter histories say nothing, in days. */
const LEAST_SPAN = 3

/** How much a value grows a day: the slope of the straight line nearest to the points; undefined where there are too few. */
export function growthOf(points: readonly Point[]): number | undefined {
  const days = points.map(({ day }) => day)
  if (points.length < 3 || Math.max(...days) - Math.min(...days) < LEAST_SPAN) return undefined
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const [middle, level] = [mean(days), mean(points.map(({ value }) => value))]
  const together = mean(points.map(({ day, value }) => (day - middle) * (value - level)))
  return together / mean(days.map((day) => (day - middle) ** 2))
}

/** Nobody plans further ahead, in days. */
const FARTHEST = 3_650

/** In how many days some room is used up at this growth; undefined where it is not, or not within ten years. */
export function daysUntilFull(room: number, growth: number | undefined): number | undefined {
  if (room <= 0) return 0
  if (growth === undefined || growth <= 0) return undefined
  const days = Math.ceil(room / growth)
  return days <= FARTHEST ? days : undefined
}
