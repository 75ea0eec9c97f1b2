import { formatCount } from '../../base/counts.ts'
/** A count with its noun: `1 file`, `2,000 files`. */
export const many = (count: number, one: string, more = `${one}s`): string =>
  `${formatCount(count)} ${count === 1 ? one : more}`
