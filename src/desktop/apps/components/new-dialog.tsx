import { signal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { printable } from '../../../base/text.ts'
import { Button } from '../../kit/button.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { Select, TextField } from '../../kit/field.tsx'
import { common } from '../../kit/words.ts'
import { putDraft } from './drafts.ts'
import { samples } from './samples.ts'
import { isTaken, searchText, view } from './store.ts'
import { words } from './words.ts'

export const isNewDialogOpen = signal(false)

const MAX_NAME_LENGTH = 100

/** Error message for an invalid name; the server has the same rules. */
function nameProblem(name: string): string | undefined {
  if ([...name].length > MAX_NAME_LENGTH) return words('name_long')
  if (printable(name) !== name || !name.isWellFormed()) return words('name_bad')
  return isTaken(name) ? words('name_taken') : undefined
}

function freeName(name: string): string {
  for (let number = 1; ; number++) {
    const free = number === 1 ? name : `${name} ${number}`
    if (!isTaken(free)) return free
  }
}

function NewComponentForm() {
  const [key, setKey] = useState<(typeof samples)[number]['key']>('clock')
  const [entered, setEntered] = useState<string | undefined>(undefined)
  const sample = samples.find((one) => one.key === key)!
  const name = entered ?? freeName(words(`name_${key}`))
  const problem = nameProblem(name)
  const close = () => void (isNewDialogOpen.value = false)

  function begin(event: Event): void {
    event.preventDefault()
    if (name.trim() === '' || problem) return
    const { kind, code, metadata } = sample
    putDraft({ name, kind, code, metadata, base: 0 })
    searchText.value = ''
    view.value = { page: 'component', name }
    close()
  }

  return (
    <Dialog title={words('new')} onClose={close}>
      <form class="form" onSubmit={begin}>
        <Select
          label={words('template')}
          data-first
          value={key}
          options={samples.map((one) => ({ value: one.key, label: words(one.key) }))}
          onChange={({ currentTarget }) => setKey(currentTarget.value as typeof key)}
        />
        <TextField
          label={words('name')}
          required
          autocomplete="off"
          value={name}
          problem={problem}
          onText={setEntered}
        />
        <footer>
          <Button onClick={close}>{common('cancel')}</Button>
          <Button kind="main" type="submit">
            {words('create')}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

export const NewDialog = () => (isNewDialogOpen.value ? <NewComponentForm /> : null)
