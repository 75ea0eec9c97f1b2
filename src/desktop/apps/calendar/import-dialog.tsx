import { readCalendarFile, type CalendarFile } from '../../../client/rows/calendars.ts'
import type { Candidate } from '../../../client/rows/row-files.ts'
import { Button } from '../../kit/button.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { Select } from '../../kit/field.tsx'
import { makeQuestion } from '../../kit/dialog-question.ts'
import type { AskTarget, ImportTarget } from '../../kit/row-files/import-target.ts'
import { common } from '../../kit/words.ts'
import {
  addCalendar,
  calendarOfEvent,
  calendars,
  newEventsCalendar,
  removeEmptyCalendar,
  showCalendar,
} from './event-calendars.ts'
import { entries, type Event } from './store.ts'
import { words } from './words.ts'

/** The choice of a new calendar. */
const NEW = '+'

/** Asks for a calendar; `choice` is the selected one. */
const question = makeQuestion<{ file: CalendarFile; choice: string }, string>()

type Known = ReadonlyMap<unknown, Event>

/** The calendar that has most events of a file already. */
function knownCalendar(candidates: readonly Candidate[], known: Known): string | undefined {
  const counts = new Map<string, number>()
  for (const { values } of candidates) {
    const event = known.get(values['uid'])
    if (!event) continue
    const { uid } = calendarOfEvent(event)
    counts.set(uid, (counts.get(uid) ?? 0) + 1)
  }
  return [...counts].toSorted(([, a], [, b]) => b - a)[0]?.[0]
}

/**
 * Asks for the calendar of the new events of a file, where there are several or the file names one. New dates of a series
 * that is known join it.
 */
export const askCalendar: AskTarget = async (text, candidates) => {
  const file = readCalendarFile(text)
  const known: Known = new Map(entries.all.value.flatMap((event) => (event.uid === null ? [] : [[event.uid, event]])))
  const target = (uid: string, undo = () => Promise.resolve()): ImportTarget => ({
    fieldsOf: (values) => ({ calendar_uid: (known.get(values['uid']) ?? { calendar_uid: uid || null }).calendar_uid }),
    undo,
  })
  if (file.name === undefined && calendars.value.length === 1) return target('')
  const proposed =
    knownCalendar(candidates, known) ??
    calendars.value.find(({ name }) => name === file.name)?.uid ??
    (file.name === undefined ? newEventsCalendar.value.uid : NEW)
  const choice = await question.ask({ file, choice: proposed })
  if (choice === undefined) return undefined
  if (choice !== NEW) {
    // The chosen one may be deleted by now.
    const calendar = calendars.value.find(({ uid }) => uid === choice) ?? calendars.value[0]!
    showCalendar(calendar)
    return target(calendar.uid)
  }
  const uid = await addCalendar(file.name ?? words('new_calendar'), file.color)
  return target(uid, () => removeEmptyCalendar(uid))
}

/** Renders the question of `askCalendar`. */
export function ImportDialog() {
  if (!question.current.value) return null
  const { subject, answer } = question.current.value
  const { file, choice } = subject
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
        onChange={({ currentTarget }) =>
          void (question.current.value = { subject: { file, choice: currentTarget.value }, answer })
        }
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
