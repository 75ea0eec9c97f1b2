/** A whole number with separators: `12,345`. Written by hand, because the first use of Intl takes 50 ms. */
export const formatCount = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, ',')

/** A count with its noun: `1 device`, `2,000 devices`; `plural` for irregular nouns. */
export const pluralize = (count: number, noun: string, plural = `${noun}s`): string =>
  `${formatCount(count)} ${count === 1 ? noun : plural}`
