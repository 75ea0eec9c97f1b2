/** A whole number as people read it: `12,345`. By hand, because the first use of the language's own tables takes 50 ms. */
export const formatCount = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, ',')

/** A count with its noun: `1 device`, `2,000 devices`; `plural` for nouns that take more than an s. */
export const pluralize = (count: number, noun: string, plural = `${noun}s`): string =>
  `${formatCount(count)} ${count === 1 ? noun : plural}`
