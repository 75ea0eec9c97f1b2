export interface BatchSize {
  entries: number
  bytes: number
}

/** Minimum number of groups for a large plan, so that packing and unpacking overlap and an interruption costs little. */
const PARTS = 8
/** Smaller groups would mostly be overhead. */
const LEAST: BatchSize = { entries: 100, bytes: 4 * 1_048_576 }

/** Splits items into batches in order; a batch of one is sent as a single request. */
export function splitIntoBatches<T>(things: readonly T[], most: BatchSize, bytesOf: (thing: T) => number): T[][] {
  const total = things.reduce((sum, thing) => sum + bytesOf(thing), 0)
  const entries = Math.min(most.entries, Math.max(LEAST.entries, Math.ceil(things.length / PARTS)))
  const bytes = Math.min(most.bytes, Math.max(LEAST.bytes, Math.ceil(total / PARTS)))
  const groups: T[][] = []
  let group: T[] = []
  let size = 0
  for (const thing of things) {
    const more = bytesOf(thing)
    if (group.length > 0 && (group.length >= entries || size + more > bytes)) {
      groups.push(group)
      group = []
      size = 0
    }
    group.push(thing)
    size += more
  }
  if (group.length > 0) groups.push(group)
  return groups
}
