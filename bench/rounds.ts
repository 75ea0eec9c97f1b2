import type { Rounds } from './figure.ts'

export interface Contest {
  /** Runs our side once and returns its value; `round` is unique. */
  ours(round: number): Promise<number>
  peer(round: number): Promise<number>
  rounds: number
}

/** Ends a contest of at least three rounds after this time, seconds. */
const PATIENCE = 15

const LEAST_ROUNDS = 3

/**
 * Runs both sides alternately, so that other load on the machine affects both. They take turns to begin, and the first
 * round of each warms up.
 */
export async function interleave({ ours, peer, rounds }: Contest): Promise<Rounds> {
  const start = performance.now()
  const measured: Rounds = { ours: [], peer: [] }
  await ours(0)
  await peer(0)
  for (let round = 1; round <= rounds; round++) {
    if (round > LEAST_ROUNDS && performance.now() - start > PATIENCE * 1_000) break
    const turns = round % 2 === 1 ? (['ours', 'peer'] as const) : (['peer', 'ours'] as const)
    for (const side of turns) measured[side].push(await (side === 'ours' ? ours(round) : peer(round)))
  }
  return measured
}

/** Duration of `work`, ms. */
export async function duration(work: () => unknown): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

/** Operations per second of `work`. */
export const rate = async (amount: number, work: () => unknown): Promise<number> =>
  (amount * 1_000) / (await duration(work))

/** Distributes items to `workers` workers; each takes the next item when it is done. */
export async function share<W, T>(
  workers: readonly W[],
  items: readonly T[],
  work: (worker: W, item: T) => Promise<unknown>,
): Promise<void> {
  const queue = items.values()
  const run = async (worker: W) => {
    for (const item of queue) await work(worker, item)
  }
  await Promise.all(workers.map(run))
}
