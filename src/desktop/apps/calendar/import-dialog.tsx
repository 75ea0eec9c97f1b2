import { signal } from '@preact/signals'
import { intoCalendar, readCalendarFile, type CalendarFile } from '../../../client/rows/calendars.ts'
import { Button } from '../../kit/button.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { Select } from '../../kit/field.tsx'
import type { AskTarget, ImportTarget } from '../../kit/row-files/import-target.ts'
import { common } from '../../kit/words.ts'
import { addCalendar, calendars, removeEmptyCalendar } from './event-calendars.ts'
import { words } from './words.ts'

/** The choice of a new calendar; no UID is so. */
const NEW = '+'

interface Question {
  file: CalendarFile
  choice: string
  answer: (choice: string | undefined) => void
}

const question = signal<Question | undefined>(undefined)

const ask = (file: CalendarFile): Promise<string | undefined> =>
  new Promise((resolve) => {
    question.value?.answer(undefined)
    const known = calendars.value.find(({ name }) => name === file.name)
    question.value = {
      file,
      choice: known?.uid ?? (file.name === undefined ? calendars.value[0]!.uid : NEW),
      answer: (choice) => {
        question.value = undefined
        resolve(choice)
      },
    }
  })

/** Asks for the calendar of the events of a file, where there are several or the file names one. */
export const askCalendar: AskTarget = async (text, format) => {
  const asIs: ImportTarget = { place: (candidates) => [...candidates], undo: () => Promise.resolve() }
  if (format !== 'ics') return asIs
  const file = readCalendarFile(text)
  if (file.name === undefined && calendars.value.length === 1) return asIs
  const choice = await ask(file)
  if (choice === undefined) return undefined
  if (choice !== NEW)
    return { ...asIs, place: (candidates) => (choice === '' ? [...candidates] : intoCalendar(candidates, choice)) }
  const uid = await addCalendar(file.name ?? words('new_calendar'), file.color)
  return { place: (candidates) => intoCalendar(candidates, uid), undo: () => removeEmptyCalendar(uid) }
}

/** Renders the question of `askCalendar`. */
export function ImportDialog() {
  if (!question.value) return null
  const { file, choice, answer } = question.value
  const options = [
    { value: NEW, label: words('import_as_new', file.name ?? words('new_calendar')) },
    ...calendars.value.map(({ uid, name }) => ({ value: uid, label: name })),
  ]
  return (
    <Dialog title={words('import_title')} onClose={() => answer(undefined)}>
      <Select
        label={words('import_into')}
        options={options}
        value={choice}
        onChange={({ currentTarget }) => void (question.value = { file, choice: currentTarget.value, answer })}
      />
      <footer>
        <Button onClick={() => answer(undefined)}>{common('cancel')}</Button>
        <Button kind="main" data-first onClick={() => answer(choice)}>
          {words('import')}
        </Button>
      </footer>
    </Dialog>
  )
}
