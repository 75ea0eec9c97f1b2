import { formatCount } from '../base/counts.ts'

/** A number with its noun: `1 device`, `2,000 devices`; `plural` where an s is not enough. */
export const counted = (count: number, noun: string, plural = `${noun}s`): string =>
  `${formatCount(count)} ${count === 1 ? noun : plural}`
