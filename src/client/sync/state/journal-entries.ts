import type { Op, Place } from '../plan/plan-builder.ts'
import type { BaseNode, Content, Side } from '../plan/sync-tree.ts'

/** The operation that caused an entry. */
export type By = Op['op'] | 'undo'

/** A change by one operation, with what an undo needs. */
export type JournalEntry =
  /** Both sides agreed on `before` and hold `after` now; null means nothing. */
  | (Place & { deed: 'set'; by: By; before: Content | null; after: Content | null })
  /** A new item was copied to the other side, `side`. */
  | (Place & { deed: 'copy'; by: By; side: Side; what: Content })
  /** The copy on `side` was removed; the original stayed and is skipped since. */
  | (Place & { deed: 'uncopy'; by: By; side: Side; what: Content })
  | (Place & { deed: 'move'; by: By; from: Place; kind: 'file' | 'dir'; cycle: boolean })
  /** Both versions were kept, under two names. */
  | (Place & { deed: 'conflict'; by: By })

/** An entry to append: `before` is then read from base. */
export type NewEntry = JournalEntry | Omit<Extract<JournalEntry, { deed: 'set' }>, 'before'>

const placeIn = ({ key, here, there }: Place): Place => ({ key, here, there })

const holdingOf = (node: BaseNode): Content => {
  const { path: _, ...holding } = node
  return holding
}

/** An item that both sides agree on from now on. */
interface Agreed {
  put: string
  node: BaseNode
}

/** The journal entries of an operation; none if both sides made the same change, or only a time was set. */
export function journalEntriesOf(op: Op, puts: readonly Agreed[]): NewEntry[] {
  const side: Side = op.op === 'move-local' || op.op === 'download' || op.op === 'make-local' ? 'here' : 'there'
  const by = op.op
  // Folders created implicitly.
  const folders = puts.flatMap(({ put: key, node }): NewEntry[] =>
    key !== op.key && node.kind === 'dir'
      ? [{ deed: 'copy', by, side, key, here: node.path, there: node.path, what: { kind: 'dir' } }]
      : [],
  )
  return [...folders.reverse(), ...ownEntries(op, puts.find(({ put }) => put === op.key)?.node, side)]
}

function ownEntries(op: Op, node: BaseNode | undefined, side: Side): NewEntry[] {
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
