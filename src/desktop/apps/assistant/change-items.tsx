import { bridge } from '../../kit/bridge.ts'
import type { ChangeSet, UndoAnswer } from './change-sets.ts'
import { words } from './words.ts'

type Item = ChangeSet['items'][number]

/** Lines shown of a long list. */
const MAX_LISTED = 12

/** Kinds of changes whose target still exists. */
const there = new Set<Item['kind']>(['made', 'written'])

const Target = ({ kind, target, isGone }: { kind: Item['kind']; target: string; isGone: boolean }) =>
  there.has(kind) && !isGone && target.startsWith('/') ? (
    <button type="button" class="link" onClick={() => bridge.open('files', target)}>
      {target}
    </button>
  ) : (
    <span>{target}</span>
  )

/** The changes, one per line. */
export const ChangeItems = ({ items }: { items: readonly Item[] }) => (
  <ul class="change-items">
    {items.slice(0, MAX_LISTED).map(({ kind, target, undone }, index) => (
      <li key={index} class={undone ? 'undone' : ''}>
        {words(kind)} <Target kind={kind} target={target} isGone={undone} />
        {undone && <small> {words('is_undone')}</small>}
      </li>
    ))}
    {items.length > MAX_LISTED && <li>{words('more_items', items.length - MAX_LISTED)}</li>}
  </ul>
)

/** The result of an undo: lists what could not be undone, with reasons. */
export function UndoResult({ result: { items } }: { result: UndoAnswer }) {
  const refused = items.filter(({ status }) => status === 'refused')
  if (refused.length === 0)
    return <p role="status">{words(items.some(({ status }) => status === 'undone') ? 'undone' : 'nothing_undone')}</p>
  return (
    <div role="alert">
      <p>{words('partly_undone')}</p>
      <ul class="change-items">
        {refused.map(({ kind, target, reason }, index) => (
          <li key={index}>
            {words(kind)} {target}
            {reason && <small> {reason}</small>}
          </li>
        ))}
      </ul>
    </div>
  )
}
