import { formatNumber } from '../../kit/formats.ts'

export const plural = (count: number, one: string, many: string): string =>
  count === 1 ? one : `${formatNumber(count)} ${many}`
