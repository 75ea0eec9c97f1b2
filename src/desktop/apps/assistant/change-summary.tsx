import { Redo2, Undo2 } from 'lucide'
import { useState } from 'preact/hooks'
import { Button } from '../../kit/button.tsx'
import { useQuery, useMutation } from '../../kit/query.ts'
import { describeError } from '../../kit/api-error.ts'
import { Problem } from '../../kit/field.tsx'
import { ChangeItems, UndoResult } from './change-items.tsx'
import { changeSet, undo, type UndoAnswer } from './change-sets.ts'
import { words } from './words.ts'

export function ChangeSummary({ id }: { id: number }) {
  const { value: set, reload } = useQuery(() => changeSet(id))
  const [result, setResult] = useState<UndoAnswer | undefined>(undefined)
  /** The change set that the button undoes: the changes, or their undo. */
  const [next, setNext] = useState<{ id: number; isRedo: boolean } | undefined>({ id, isRedo: false })
  const { busy, error, start } = useMutation(async () => {
    const done = await undo(next!.id)
    const { change_set_id: undoSet } = done
    setResult(next!.isRedo ? undefined : done)
    setNext(undoSet === null ? undefined : { id: undoSet, isRedo: !next!.isRedo })
    await reload()
  })
  return (
    <section class="changed" aria-label={words('changed')}>
      <div>
        <h3>{words('changed')}</h3>
        {set && <ChangeItems items={set.items} />}
        {result && <UndoResult result={result} />}
        {error !== undefined && <Problem>{describeError(error)}</Problem>}
      </div>
      {next && (
        <Button icon={next.isRedo ? Redo2 : Undo2} busy={busy} onClick={start}>
          {words(next.isRedo ? 'redo' : 'undo')}
        </Button>
      )}
    </section>
  )
}
