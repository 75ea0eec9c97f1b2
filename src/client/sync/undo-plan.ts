import { isWithin } from './candidates.ts'
import type { Deed, Holding, SideName } from './deeds.ts'
import type { Place } from './draft.ts'
import { foldersOver } from './paths.ts'
import { shiftMap } from './shift.ts'
import { parentOf, type BaseTree, type LocalNode, type RemoteNode, type Tree } from './tree.ts'

// Taking a run back. The account is put back first, under conditions; then this side follows it, as in any other run.

/** Why something of a run is not taken back, in words for people. */
export const leftReasons = {
  changed_here: 'changed here since',
  changed_there: 'changed on the server since',
  not_empty: 'holds something that came since',
  taken: 'something else has its old name now',
  conflict: 'was a conflict: both versions are there, and both stay',
  swapped: 'took the place of another; swap them back by hand',
  refused: 'was refused by the server',
  gone: 'its earlier content is kept nowhere any more',
} as const

export type LeftReason = keyof typeof leftReasons

/** One thing of a run that stays as it is. */
export interface LeftAlone {
  path: string
  why: LeftReason
}

/** How a deed is taken back. */
export type Step = Deed & {
  do: 'restore' | 'revive' | 'remove' | 'remove-copy' | 'bring-together' | 'move-back'
  /** What a file holds that is to be moved back. */
  sha256?: string
}

export interface UndoPlan {
  /** In the order in which they are done: the last deed first. */
  steps: Step[]
  left: LeftAlone[]
}

interface Trees {
  local: Tree<LocalNode>
  remote: Tree<RemoteNode>
}

/** What a side holds, by key, in words that can be compared: a checksum, `dir`, or what is not synchronised. */
type Contents = Map<string, { path: string; is: string }>

const isOf = (holding: Holding | null): string | undefined =>
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
 * Decides how the deeds of a run are taken back, the last one first: each only where both sides still are what it left behind. What was
 * edited, deleted or moved is again on both sides what both had agreed on before; of what was new only the copy goes.
 */
export function planUndo(deeds: readonly Deed[], { local, remote }: Trees): UndoPlan {
  const sides = { here: contentsOf(local), there: contentsOf(remote) }
  const steps: Step[] = []
  const left: LeftAlone[] = []
  for (const deed of deeds.toReversed()) {
    const step = takeBack(deed, sides)
    if (typeof step === 'string') left.push({ path: deed.here, why: step })
    else steps.push({ ...deed, ...step } as Step)
  }
  return { steps, left: uniqueByPath(left) }
}

const uniqueByPath = (left: LeftAlone[]): LeftAlone[] => [...new Map(left.map((each) => [each.path, each])).values()]

type Sides = Record<SideName, Contents>
type Taking = Pick<Step, 'do' | 'sha256'>

/** How a deed is taken back, or why it is not; what both sides hold follows. */
function takeBack(deed: Deed, sides: Sides): Taking | LeftReason {
  const { key } = deed
  switch (deed.deed) {
    case 'conflict':
      return 'conflict'
    case 'set': {
      const after = isOf(deed.after)
      const differs = differing(sides, key, after, after)
      if (differs) return differs
      if (deed.before === null) {
        if (holdsSomething(sides.here, key) || holdsSomething(sides.there, key)) return 'not_empty'
        set(sides, deed, undefined)
        return { do: 'remove' }
      }
      if (!hasRoom(sides, key)) return 'taken'
      set(sides, deed, isOf(deed.before))
      return { do: deed.after === null ? 'revive' : 'restore' }
    }
    case 'copy': {
      const what = isOf(deed.what)
      const differs = differing(sides, key, what, what)
      if (differs) return differs
      if (holdsSomething(sides[deed.side], key)) return 'not_empty'
      sides[deed.side].delete(key)
      return { do: 'remove-copy' }
    }
    case 'uncopy': {
      const [here, there] = deed.side === 'here' ? [undefined, isOf(deed.what)] : [isOf(deed.what), undefined]
      const differs = differing(sides, key, here, there)
      if (differs) return differs
      set(sides, deed, isOf(deed.what))
      return { do: 'bring-together' }
    }
    case 'move':
      return moveBack(deed, sides)
  }
}

function moveBack(deed: Extract<Deed, { deed: 'move' }>, { here, there }: Sides): Taking | LeftReason {
  const { key, from, kind } = deed
  if (deed.cycle) return 'swapped'
  const [l, r] = [here.get(key)?.is, there.get(key)?.is]
  if ((l === 'dir') !== (kind === 'dir')) return 'changed_here'
  if ((r === 'dir') !== (kind === 'dir')) return 'changed_there'
  if (l !== r) return 'changed_here'
  if ([here, there].some((side) => side.has(from.key)) || !hasRoom({ here, there }, from.key)) return 'taken'
  shiftMap(here, new Map([[key, { to: from.key, path: from.here }]]))
  shiftMap(there, new Map([[key, { to: from.key, path: from.there }]]))
  return kind === 'file' ? { do: 'move-back', sha256: r! } : { do: 'move-back' }
}

const differing = (
  sides: Sides,
  key: string,
  here: string | undefined,
  there: string | undefined,
): LeftReason | undefined =>
  sides.here.get(key)?.is !== here ? 'changed_here' : sides.there.get(key)?.is !== there ? 'changed_there' : undefined

/** Whether nothing over a key is something else than a folder. */
const hasRoom = (sides: Sides, key: string): boolean =>
  foldersOver(key).every((at) => [sides.here, sides.there].every((side) => (side.get(at)?.is ?? 'dir') === 'dir'))

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

/** What a step itself came to, so that it can be taken back in turn. */
export function deedOf(step: Step): Deed {
  const { do: _, sha256: __, ...deed } = step
  const by = 'undo'
  if (deed.deed === 'set') return { ...deed, by, before: deed.after, after: deed.before }
  if (deed.deed === 'copy') return { ...deed, by, deed: 'uncopy' }
  if (deed.deed === 'uncopy') return { ...deed, by, deed: 'copy' }
  if (deed.deed !== 'move') return deed
  const { key, here, there, from } = deed
  return { ...deed, by, ...from, from: { key, here, there } }
}

/** Decides what this side takes part in when it follows: everything that steps touch, and the folders over it. */
export function scopeOf(steps: readonly Step[]): (key: string) => boolean {
  const keys = new Set<string>()
  const moved: string[] = []
  for (const step of steps) {
    if (step.do === 'remove-copy') continue
    for (const key of step.deed === 'move' ? [step.key, step.from.key] : [step.key]) {
      keys.add(key)
      for (const folder of foldersOver(key)) keys.add(folder)
      if (step.deed === 'move' && step.kind === 'dir') moved.push(key)
    }
  }
  return (key) => keys.has(key) || moved.some((folder) => isWithin(key, folder))
}

/** Trees as far as a scope reaches; what lies beyond keeps its folders where they are. */
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
