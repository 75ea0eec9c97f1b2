import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Button } from '../../kit/button.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { TextField } from '../../kit/field.tsx'
import { describeError } from '../../kit/api-error.ts'
import { common } from '../../kit/words.ts'
import { all } from './folder.ts'
import { makeFile, makeFolder } from './operations.ts'
import { freeName } from './paths.ts'
import { words } from './words.ts'

/** Asks for the name of a new file or folder and creates it. */
export function NameDialog({
  what,
  onClose,
  onMade,
}: {
  what: 'folder' | 'file'
  onClose: () => void
  onMade: (name: string) => void
}) {
  const [problem, setProblem] = useState<string | undefined>(undefined)
  const [isBusy, setBusy] = useState(false)
  const form = useRef<HTMLFormElement>(null)
  const [proposed] = useState(() =>
    freeName(
      words(what === 'folder' ? 'proposed_folder' : 'proposed_file'),
      all.peek().map(({ name }) => name),
    ),
  )
  const field = (): HTMLInputElement => form.current!.querySelector('input')!
  useLayoutEffect(() => {
    field().focus()
    field().setSelectionRange(0, proposed.lastIndexOf('.') > 0 ? proposed.lastIndexOf('.') : proposed.length)
  }, [])

  async function make(): Promise<void> {
    const name = field().value.trim()
    if (name === '') return setProblem(words('name_needed'))
    // `mkdir` succeeds for an existing folder: check first.
    if (all.peek().some((item) => item.name.toLowerCase() === name.toLowerCase()))
      return setProblem(words('name_taken'))
    setBusy(true)
    try {
      await (what === 'folder' ? makeFolder : makeFile)(name)
      onClose()
      onMade(name)
    } catch (error) {
      setProblem(describeError(error))
      setBusy(false)
    }
  }

  return (
    <Dialog title={words(what === 'folder' ? 'new_folder' : 'new_file')} onClose={onClose}>
      <form
        ref={form}
        class="form"
        onSubmit={(event) => {
          event.preventDefault()
          void make()
        }}
      >
        <TextField label={words('name')} problem={problem} defaultValue={proposed} maxLength={255} spellcheck={false} />
        <footer>
          <Button onClick={onClose}>{common('cancel')}</Button>
          <Button kind="main" type="submit" busy={isBusy}>
            {words('create')}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
