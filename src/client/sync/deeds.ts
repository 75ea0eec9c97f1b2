import type { Op, Place } from './draft.ts'
import type { BaseNode, FileState } from './tree.ts'

/** What something holds: a file's content, or that it is a folder. */
export type Holding = FileState | { kind: 'dir' }

/** One of both sides: this folder, or the account. */
export type SideName = 'here' | 'there'

/** By what a deed came about. */
export type By = Op['op'] | 'undo'

/** What one operation of a run came to, as much of it as taking it back needs. */
export type Deed =
  /** Both sides had agreed on `before` and hold `after` now; null is nothing. */
  | (Place & { deed: 'set'; by: By; before: Holding | null; after: Holding | null })
  /** What was new on one side was copied to the other, `side`. */
  | (Place & { deed: 'copy'; by: By; side: SideName; what: Holding })
  /** The copy on `side` was removed; the original stayed, and is left alone since. */
  | (Place & { deed: 'uncopy'; by: By; side: SideName; what: Holding })
  | (Place & { deed: 'move'; by: By; from: Place; kind: 'file' | 'dir'; cycle: boolean })
  /** Both versions were kept, under two names. */
  | (Place & { deed: 'conflict'; by: By })

/** A deed as it is noted: what both sides had agreed on before stands in base until then. */
export type Noted = Deed | Omit<Extract<Deed, { deed: 'set' }>, 'before'>

const placeIn = ({ key, here, there }: Place): Place => ({ key, here, there })

const holdingOf = (node: BaseNode): Holding => {
  const { path: _, ...holding } = node
  return holding
}

/** Something that both sides agree on from now on. */
interface Agreed {
  put: string
  node: BaseNode
}

/** What an operation came to, by what was agreed on after it. Nothing, when both sides did the same, or only a time was set. */
export function deedsOf(op: Op, puts: readonly Agreed[]): Noted[] {
  const side: SideName = op.op === 'move-local' || op.op === 'download' || op.op === 'make-local' ? 'here' : 'there'
  const by = op.op
  // Folders that came into being on the way.
  const folders = puts.flatMap(({ put: key, node }): Noted[] =>
    key !== op.key && node.kind === 'dir'
      ? [{ deed: 'copy', by, side, key, here: node.path, there: node.path, what: { kind: 'dir' } }]
      : [],
  )
  return [...folders.reverse(), ...ownDeeds(op, puts.find(({ put }) => put === op.key)?.node, side)]
}

function ownDeeds(op: Op, node: BaseNode | undefined, side: SideName): Noted[] {
  const place = placeIn(op)
  const by = op.op
  switch (op.op) {
    case 'upload':
    case 'download': {
      if (op.reason === 'both_changed') return [{ deed: 'conflict', by, ...place }]
      if (!node || op.reason === 'damaged') return []
      const what = holdingOf(node)
      return [
        op.over === undefined ? { deed: 'copy', by, side, ...place, what } : { deed: 'set', by, ...place, after: what },
      ]
    }
    case 'make-local':
    case 'make-remote':
      return op.reason === 'both_changed' ? [] : [{ deed: 'copy', by, side, ...place, what: { kind: 'dir' } }]
    case 'remove-local':
    case 'remove-remote':
      return [{ deed: 'set', by, ...place, after: null }]
    case 'move-local':
    case 'move-remote': {
      const { kind, from, cycle } = op
      const undoes = op.op === 'move-local' && op.undo
      return undoes ? [] : [{ deed: 'move', by, ...place, from: placeIn(from), kind, cycle: cycle !== undefined }]
    }
    case 'set-aside':
      return [{ deed: 'conflict', by, ...place }]
    default:
      return []
  }
}
