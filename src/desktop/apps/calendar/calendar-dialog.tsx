import { Plus } from 'lucide'
import { Button } from '../../kit/button.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { entryWords } from '../../kit/entry-words.ts'
import { Select } from '../../kit/field.tsx'
import { describeError } from '../../kit/api-error.ts'
import { toast, toastError } from '../../kit/toast.tsx'
import { common } from '../../kit/words.ts'
import { CalendarMenu } from './calendar-menu.tsx'
import { CalendarSign } from './calendar-sign.tsx'
import { addCalendar, calendars, changeCalendar, eventsOf, removeCalendar, type Calendar } from './event-calendars.ts'
import { isManaging, removal } from './open-dialogs.ts'
import { words } from './words.ts'

const change = (calendar: Calendar, fields: Parameters<typeof changeCalendar>[1]): void =>
  void changeCalendar(calendar, fields).catch(toastError)

function Line({ calendar }: { calendar: Calendar }) {
  const { name, color, hidden } = calendar
  return (
    <li class="calendar-line">
      <input
        type="checkbox"
        checked={!hidden}
        aria-label={words('show_calendar', name)}
        onChange={({ currentTarget }) => change(calendar, { hidden: !currentTarget.checked })}
      />
      <CalendarSign of={calendar} />
      <input
        type="text"
        value={name}
        maxLength={500}
        aria-label={words('name_of', name)}
        onChange={({ currentTarget }) => {
          const entered = currentTarget.value.trim()
          if (entered === '') currentTarget.value = name
          else change(calendar, { name: entered })
        }}
      />
      <input
        type="color"
        value={color ?? '#3b5bdb'}
        aria-label={words('color_of', name)}
        onChange={({ currentTarget }) => change(calendar, { color: currentTarget.value })}
      />
      <CalendarMenu calendar={calendar} />
    </li>
  )
}

/** Says what has happened, with a way back; after a failure, the way back can be tried again. */
function offerUndo(undo: () => Promise<void>, text: string, error?: unknown): void {
  const run = (): void => void undo().catch((reason: unknown) => offerUndo(undo, text, reason))
  const shown = error === undefined ? text : `${text}\n${describeError(error)}`
  toast(shown, { tone: error === undefined ? 'good' : 'bad', action: { label: entryWords('undo'), run } })
}

async function remove(calendar: Calendar, target: Calendar | undefined): Promise<void> {
  removal.value = undefined
  const { undo, error } = await removeCalendar(calendar, target)
  offerUndo(undo, words(error === undefined ? 'calendar_deleted' : 'calendar_not_deleted', calendar.name), error)
}

/** Asks what happens to the events of a calendar. */
function Removal({ calendar, target }: { calendar: Calendar; target: string }) {
  const others = calendars.value.filter(({ uid }) => uid !== calendar.uid)
  const close = (): void => void (removal.value = undefined)
  return (
    <Dialog title={words('delete_calendar', calendar.name)} onClose={close}>
      <p>{words('events_in', eventsOf(calendar).length)}</p>
      <Select
        label={words('move_to')}
        options={others.map(({ uid, name }) => ({ value: uid, label: name }))}
        value={target}
        onChange={({ currentTarget }) => void (removal.value = { calendar, target: currentTarget.value })}
      />
      <footer>
        <Button onClick={close}>{common('cancel')}</Button>
        <Button kind="danger" onClick={() => void remove(calendar, undefined)}>
          {words('delete_events')}
        </Button>
        <Button
          kind="main"
          data-first
          onClick={() => void remove(calendar, others.find(({ uid }) => uid === target) ?? others[0])}
        >
          {words('move_events')}
        </Button>
      </footer>
    </Dialog>
  )
}

/** The calendars: which are shown, their names and colours. */
export function CalendarDialog() {
  if (removal.value) return <Removal {...removal.value} />
  if (!isManaging.value) return null
  return (
    <Dialog title={words('calendars')} onClose={() => void (isManaging.value = false)}>
      <ul class="calendar-lines">
        {calendars.value.map((calendar) => (
          <Line key={calendar.uid} calendar={calendar} />
        ))}
      </ul>
      <footer>
        <Button icon={Plus} onClick={() => void addCalendar(words('new_calendar')).catch(toastError)}>
          {words('add_calendar')}
        </Button>
        <Button kind="main" onClick={() => void (isManaging.value = false)}>
          {words('done')}
        </Button>
      </footer>
    </Dialog>
  )
}
