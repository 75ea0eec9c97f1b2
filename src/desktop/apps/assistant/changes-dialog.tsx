import { useEffect, useState } from 'preact/hooks'
import { signal } from '@preact/signals'
import { bridge } from '../../kit/bridge.ts'
import { Button } from '../../kit/button.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { formatWhen } from '../../kit/formats.ts'
import { useMutation } from '../../kit/query.ts'
import { Loading } from '../../kit/empty-state.tsx'
import { describeError } from '../../kit/api-error.ts'
import { Problem } from '../../kit/field.tsx'
import { ChangeItems, UndoResult } from './change-items.tsx'
import { conversations } from './store.ts'
import { undo, type ChangeSet, type UndoAnswer } from './change-sets.ts'
import { words } from './words.ts'

export const changesOpen = signal(false)

const PAGE = 20

const titleOf = ({ conversation_id: id }: ChangeSet): string =>
  conversations.value?.find(({ conversation_id }) => conversation_id === id)?.title ?? words('deleted_conversation')

function Entry({ set, onUndone }: { set: ChangeSet; onUndone: () => Promise<void> }) {
  const [result, setResult] = useState<UndoAnswer | undefined>(undefined)
  const { busy, error, start } = useMutation(async () => {
    setResult(await undo(set.change_set_id))
    await onUndone()
  })
  const isLeft = set.items.some(({ undone }) => !undone)
  return (
    <li>
      <h3>
        {set.undoes === null ? titleOf(set) : words('was_undo')}
        <time>{formatWhen(set.created_at)}</time>
      </h3>
      <div class="changed">
        <div>
          <ChangeItems items={set.items} />
          {result && <UndoResult result={result} />}
          {error !== undefined && <Problem>{describeError(error)}</Problem>}
        </div>
        {isLeft && (
          <Button busy={busy} onClick={start}>
            {words('undo')}
          </Button>
        )}
      </div>
    </li>
  )
}

function useChanges() {
  const [sets, setSets] = useState<readonly ChangeSet[] | undefined>(undefined)
  const [hasMore, setHasMore] = useState(false)
  const {
    busy,
    error,
    start: more,
  } = useMutation(async () => {
    const before = sets?.at(-1)?.change_set_id
    const page = await bridge.call('assistant.changes', { limit: PAGE, ...(before === undefined ? {} : { before }) })
    setSets([...(sets ?? []), ...page.changes])
    setHasMore(page.has_more)
  })
  /** An undo affects other change sets too. */
  const refresh = async (): Promise<void> => {
    const page = await bridge.call('assistant.changes', { limit: Math.min(100, (sets?.length ?? 0) + 1) })
    const last = page.changes.at(-1)?.change_set_id ?? 0
    setSets([...page.changes, ...(sets ?? []).filter(({ change_set_id }) => change_set_id < last)])
  }
  useEffect(more, [])
  return { sets, hasMore, busy, error, more, refresh }
}

function Changes() {
  const { sets, hasMore, busy, error, more, refresh } = useChanges()
  return (
    <Dialog title={words('changes')} onClose={() => void (changesOpen.value = false)}>
      {error !== undefined && <p role="alert">{describeError(error)}</p>}
      {!sets && error === undefined && <Loading />}
      {sets?.length === 0 && <p>{words('no_changes')}</p>}
      <ul class="all-changes">
        {sets?.map((set) => (
          <Entry key={set.change_set_id} set={set} onUndone={refresh} />
        ))}
      </ul>
      {hasMore && (
        <Button busy={busy} onClick={more}>
          {words('more_changes')}
        </Button>
      )}
    </Dialog>
  )
}

/** All changes of the assistant, newest first. */
export const ChangesDialog = () => (changesOpen.value ? <Changes /> : null)
