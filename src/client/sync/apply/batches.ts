/** The largest batch. */
export interface BatchSize {
  entries: number
  bytes: number
}

/** Groups that a plan is divided into where it has enough: so that one is packed while another is unpacked, and a break costs little. */
const PARTS = 8
/** Smaller groups would be made of overhead. */
const LEAST: BatchSize = { entries: 100, bytes: 4 * 1_048_576 }

/** Splits things into batches and keeps their order; a batch of one is sent as a single request. */
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
