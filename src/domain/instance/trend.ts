/** A measurement on a day; days are numbers and may have fractions. */
export interface Point {
  day: number
  value: number
}

/** Shortest history for a forecast, in days. */
const LEAST_SPAN = 3

/** Growth per day: the slope of the linear regression; undefined with too few points. */
export function growthOf(points: readonly Point[]): number | undefined {
  const days = points.map(({ day }) => day)
  if (points.length < 3 || Math.max(...days) - Math.min(...days) < LEAST_SPAN) return undefined
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const [middle, level] = [mean(days), mean(points.map(({ value }) => value))]
  const together = mean(points.map(({ day, value }) => (day - middle) * (value - level)))
  return together / mean(days.map((day) => (day - middle) ** 2))
}

/** Longest forecast, in days. */
const MAX_DAYS = 3_650

/** Days until `room` is used up at this growth; undefined if it is not, or not within ten years. */
export function daysUntilFull(room: number, growth: number | undefined): number | undefined {
  if (room <= 0) return 0
  if (growth === undefined || growth <= 0) return undefined
  const days = Math.ceil(room / growth)
  return days <= MAX_DAYS ? days : undefined
}
