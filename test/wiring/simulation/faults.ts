/** Everything that may happen to a server in a story. */
const KINDS = [
  'crash',
  'crash while a content was not flushed',
  'crash while a unit waited for its commit',
  'power cut while a commit was not flushed',
  'read while a commit was not flushed',
  'blob store full',
  'body breaks off',
  'unit refused',
  'units shared a commit',
  'clock forwards',
  'clock backwards',
  'content collected',
  'collector kept away by a backup',
  'backup lost its hold',
  'content stored again while it was collected',
  'reader woken by a commit',
  'written by another process',
] as const

export type FaultKind = (typeof KINDS)[number]

/** How often each kind was met. */
export interface Faults {
  met(kind: FaultKind): void
  /** Kinds that were never met. */
  missing(): FaultKind[]
}

export function makeFaults(): Faults {
  const counts = new Map<FaultKind, number>()
  return {
    met: (kind) => void counts.set(kind, (counts.get(kind) ?? 0) + 1),
    missing: () => KINDS.filter((kind) => !counts.has(kind)),
  }
}
