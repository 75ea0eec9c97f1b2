import { Redo2, Undo2 } from 'lucide'
import { useState } from 'preact/hooks'
import { Button } from '../../kit/button.tsx'
import { useLoaded, useTask } from '../../kit/loaded.ts'
import { explain } from '../../kit/trouble.ts'
import { ChangeItems, UndoResult } from './change-items.tsx'
import { changeSet, undo, type Undone } from './undoing.ts'
import { words } from './words.ts'

/** What an answer changed, with the way back, and from there the way forth again. */
export function Changed({ id }: { id: number }) {
  const { value: set, reload } = useLoaded(() => changeSet(id))
  const [result, setResult] = useState<Undone | undefined>(undefined)
  /** What the button takes back: the changes, or the undo of them. */
  const [next, setNext] = useState<{ id: number; isRedo: boolean } | undefined>({ id, isRedo: false })
  const { busy, trouble, start } = useTask(async () => {
    const done = await undo(next!.id)
    const { change_set_id: back } = done
    setResult(next!.isRedo ? undefined : done)
    setNext(back === null ? undefined : { id: back, isRedo: !next!.isRedo })
    await reload()
  })
  return (
    <section class="changed" aria-label={words('changed')}>
      <div>
        <h3>{words('changed')}</h3>
        {set && <ChangeItems items={set.items} />}
        {result && <UndoResult result={result} />}
        {trouble !== undefined && (
          <p class="flaw" role="alert">
            {explain(trouble)}
          </p>
        )}
      </div>
      {next && (
        <Button icon={next.isRedo ? Redo2 : Undo2} busy={busy} onClick={start}>
          {words(next.isRedo ? 'redo' : 'undo')}
        </Button>
      )}
    </section>
  )
}
