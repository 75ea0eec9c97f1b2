/** Random numbers from a seed. */
export interface Random {
  /** An integer from 0 to `max` - 1. */
  below(max: number): number
  of<T>(items: readonly T[]): T
}

/** Mulberry32: small, fast, and random enough for tests. */
export function makeRandom(seed: number): Random {
  let state = seed | 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (max: number) => Math.floor(next() * max)
  return { below, of: (items) => items[below(items.length)]! }
}
