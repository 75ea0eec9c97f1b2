/** A number with its noun: `1 device`, `2,000 devices`; `plural` where an s is not enough. */
export const counted = (count: number, noun: string, plural = `${noun}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? noun : plural}`
