/** A queue whose entries run one in each turn of the event loop. */
export function makeTurnQueue(): (entry: () => void) => void {
  const waiting: (() => void)[] = []
  const release = (): void => {
    // It stays in the queue while it runs, so that what it adds begins no second round.
    waiting[0]!()
    waiting.shift()
    if (waiting.length > 0) setImmediate(release)
  }
  return (entry) => {
    waiting.push(entry)
    if (waiting.length === 1) setImmediate(release)
  }
}

const longOperations = makeTurnQueue()

/** One waiting operation continues per turn of the event loop, so many block others no longer than one. */
export const yieldToOthers = (): Promise<void> => new Promise((resolve) => longOperations(resolve))

/** Entries of a list that are dealt with in one turn. */
const SLICE = 1_000

/** A sorted copy of a list, made while others have their turn. Stable. */
export async function sortInTurns<T>(list: readonly T[], order: (a: T, b: T) => number): Promise<T[]> {
  if (list.length <= SLICE) return [...list].sort(order)
  let runs: T[][] = []
  for (let at = 0; at < list.length; at += SLICE) {
    runs.push(list.slice(at, at + SLICE).sort(order))
    await yieldToOthers()
  }
  let steps = 0
  async function merge(left: T[], right: T[]): Promise<T[]> {
    const merged: T[] = []
    let l = 0
    let r = 0
    while (l < left.length && r < right.length) {
      merged.push(order(left[l]!, right[r]!) <= 0 ? left[l++]! : right[r++]!)
      if (++steps % (4 * SLICE) === 0) await yieldToOthers()
    }
    return merged.concat(left.slice(l), right.slice(r))
  }
  while (runs.length > 1) {
    const merged: T[][] = []
    for (let at = 0; at < runs.length; at += 2) {
      const right = runs[at + 1]
      merged.push(right ? await merge(runs[at]!, right) : runs[at]!)
    }
    runs = merged
  }
  return runs[0]!
}
