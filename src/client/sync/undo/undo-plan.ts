import type { JournalEntry } from '../state/journal-entries.ts'
import type { Place } from '../plan/plan-builder.ts'
import { foldersAbove } from '../plan/reserved-paths.ts'
import { remapMap } from '../plan/path-remap.ts'
import {
  parentOf,
  type BaseTree,
  type LocalNode,
  type RemoteNode,
  type Tree,
  type Content,
  type Side,
  isWithin,
} from '../plan/sync-tree.ts'

// Undo of a run. The account is restored first, conditionally; then the folder follows it as in any other run.

/** Why a change is not undone, as text for users. */
export const leftReasons = {
  changed_here: 'changed locally since',
  changed_there: 'changed on the server since',
  not_empty: 'holds something that was added since',
  taken: 'something else has its old name now',
  conflict: 'was a conflict: both versions exist, and both stay',
  swapped: 'took the place of another; swap them back by hand',
  refused: 'was refused by the server',
  gone: 'its earlier content is no longer kept',
} as const

export type LeftReason = keyof typeof leftReasons

export interface LeftItem {
  path: string
  why: LeftReason
}

export type Step = JournalEntry & {
  do: 'restore' | 'revive' | 'remove' | 'remove-copy' | 'bring-together' | 'move-back'
  /** The content of a file to be moved back. */
  sha256?: string
}

export interface UndoPlan {
  /** In order of execution: the newest entry first. */
  steps: Step[]
  left: LeftItem[]
}

interface Trees {
  local: Tree<LocalNode>
  remote: Tree<RemoteNode>
}

/** The contents of a side by key, as comparable texts: a checksum, `dir`, or a skipped item. */
type Contents = Map<string, { path: string; is: string }>

const isOf = (holding: Content | null): string | undefined =>
  holding === null ? undefined : holding.kind === 'dir' ? 'dir' : holding.sha256

function contentsOf({ nodes }: Tree<LocalNode | RemoteNode>): Contents {
  return new Map(
    Array.from(nodes, ([key, node]) => {
      const is = node.kind === 'file' ? (node.sha256 ?? 'unread') : node.kind
      return [key, { path: node.path, is }]
    }),
  )
}

/**
 * Decides how the journal of a run is undone, last entry first: each only if both sides still are as the run left them.
 * Edited, deleted or moved items return to the agreement before the run; of new items only the copy is removed.
 */
export function planUndo(entries: readonly JournalEntry[], { local, remote }: Trees): UndoPlan {
  const sides = { here: contentsOf(local), there: contentsOf(remote) }
  const steps: Step[] = []
  const left: LeftItem[] = []
  for (const entry of entries.toReversed()) {
    const step = planStep(entry, sides)
    if (typeof step === 'string') left.push({ path: entry.here, why: step })
    else steps.push({ ...entry, ...step } as Step)
  }
  return { steps, left: uniqueByPath(left) }
}

const uniqueByPath = (left: LeftItem[]): LeftItem[] => [...new Map(left.map((each) => [each.path, each])).values()]

type Sides = Record<Side, Contents>
type PlannedStep = Pick<Step, 'do' | 'sha256'>

/** How an entry is undone, or why not; updates the contents of both sides. */
function planStep(entry: JournalEntry, sides: Sides): PlannedStep | LeftReason {
  const { key } = entry
  switch (entry.deed) {
    case 'conflict':
      return 'conflict'
    case 'set': {
      const after = isOf(entry.after)
      const differs = differing(sides, key, after, after)
      if (differs) return differs
      if (entry.before === null) {
        if (holdsSomething(sides.here, key) || holdsSomething(sides.there, key)) return 'not_empty'
        set(sides, entry, undefined)
        return { do: 'remove' }
      }
      if (!hasRoom(sides, key)) return 'taken'
      set(sides, entry, isOf(entry.before))
      return { do: entry.after === null ? 'revive' : 'restore' }
    }
    case 'copy': {
      const what = isOf(entry.what)
      const differs = differing(sides, key, what, what)
      if (differs) return differs
      if (holdsSomething(sides[entry.side], key)) return 'not_empty'
      sides[entry.side].delete(key)
      return { do: 'remove-copy' }
    }
    case 'uncopy': {
      const [here, there] = entry.side === 'here' ? [undefined, isOf(entry.what)] : [isOf(entry.what), undefined]
      const differs = differing(sides, key, here, there)
      if (differs) return differs
      set(sides, entry, isOf(entry.what))
      return { do: 'bring-together' }
    }
    case 'move':
      return moveBack(entry, sides)
  }
}

function moveBack(entry: Extract<JournalEntry, { deed: 'move' }>, { here, there }: Sides): PlannedStep | LeftReason {
  const { key, from, kind } = entry
  if (entry.cycle) return 'swapped'
  const [l, r] = [here.get(key)?.is, there.get(key)?.is]
  if ((l === 'dir') !== (kind === 'dir')) return 'changed_here'
  if ((r === 'dir') !== (kind === 'dir')) return 'changed_there'
  if (l !== r) return 'changed_here'
  if ([here, there].some((side) => side.has(from.key)) || !hasRoom({ here, there }, from.key)) return 'taken'
  remapMap(here, new Map([[key, { to: from.key, path: from.here }]]))
  remapMap(there, new Map([[key, { to: from.key, path: from.there }]]))
  return kind === 'file' ? { do: 'move-back', sha256: r! } : { do: 'move-back' }
}

const differing = (
  sides: Sides,
  key: string,
  here: string | undefined,
  there: string | undefined,
): LeftReason | undefined =>
  sides.here.get(key)?.is !== here ? 'changed_here' : sides.there.get(key)?.is !== there ? 'changed_there' : undefined

/** Whether all parents of a key are folders. */
const hasRoom = (sides: Sides, key: string): boolean =>
  foldersAbove(key).every((at) => [sides.here, sides.there].every((side) => (side.get(at)?.is ?? 'dir') === 'dir'))

function holdsSomething(side: Contents, folder: string): boolean {
  if (side.get(folder)?.is !== 'dir') return false
  for (const key of side.keys()) if (key !== folder && isWithin(key, folder)) return true
  return false
}

function set(sides: Sides, { key, here, there }: Place, is: string | undefined): void {
  for (const [side, path] of [
    [sides.here, here],
    [sides.there, there],
  ] as const) {
    if (is === undefined) side.delete(key)
    else side.set(key, { path, is })
  }
}

/** The journal entry of an undo step, so that the undo can be undone. */
export function journalEntryOf(step: Step): JournalEntry {
  const { do: _, sha256: __, ...entry } = step
  const by = 'undo'
  if (entry.deed === 'set') return { ...entry, by, before: entry.after, after: entry.before }
  if (entry.deed === 'copy') return { ...entry, by, deed: 'uncopy' }
  if (entry.deed === 'uncopy') return { ...entry, by, deed: 'copy' }
  if (entry.deed !== 'move') return entry
  const { key, here, there, from } = entry
  return { ...entry, by, ...from, from: { key, here, there } }
}

/** The scope of the run that follows an undo: everything that steps touch, with the parent folders. */
export function scopeOf(steps: readonly Step[]): (key: string) => boolean {
  const keys = new Set<string>()
  const moved: string[] = []
  for (const step of steps) {
    if (step.do === 'remove-copy') continue
    for (const key of step.deed === 'move' ? [step.key, step.from.key] : [step.key]) {
      keys.add(key)
      for (const folder of foldersAbove(key)) keys.add(folder)
      if (step.deed === 'move' && step.kind === 'dir') moved.push(key)
    }
  }
  return (key) => keys.has(key) || moved.some((folder) => isWithin(key, folder))
}

/** Trees limited to a scope; folders outside keep their place. */
export function within<T extends { base: BaseTree; local: Tree<LocalNode>; remote: Tree<RemoteNode> }>(
  trees: T,
  scope: (key: string) => boolean,
): T {
  const part = <N>(tree: Tree<N>): Tree<N> => {
    const nodes = new Map<string, N>()
    const occupied = new Set(tree.occupied)
    for (const [key, node] of tree.nodes) {
      if (scope(key)) nodes.set(key, node)
      else occupied.add(parentOf(key))
    }
    return { ...tree, nodes, occupied }
  }
  const base = new Map([...trees.base].filter(([key]) => scope(key)))
  return { ...trees, base, local: part(trees.local), remote: part(trees.remote) }
}
