import { formatNumber } from '../../kit/formats.ts'

/** Formats a count: `one` as it is, or the number before `many`. */
export const plural = (count: number, one: string, many: string): string =>
  count === 1 ? one : `${formatNumber(count)} ${many}`
