import { formatNumber } from '../../kit/formats.ts'

/** So many of something: the words for one, or the number and the word for many. */
export const plural = (count: number, one: string, many: string): string =>
  count === 1 ? one : `${formatNumber(count)} ${many}`
