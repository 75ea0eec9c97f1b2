/** A count with its noun: `1 file`, `2,000 files`. */
export const many = (count: number, one: string, more = `${one}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : more}`
