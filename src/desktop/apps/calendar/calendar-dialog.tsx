import { Plus } from 'lucide'
import { Button } from '../../kit/button.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { Select } from '../../kit/field.tsx'
import { offerUndo } from '../../kit/offer-undo.ts'
import { toastError } from '../../kit/toast.tsx'
import { common } from '../../kit/words.ts'
import { CalendarMenu } from './calendar-menu.tsx'
import { ShownBox } from './calendar-side.tsx'
import { CalendarSign } from './calendar-sign.tsx'
import { addCalendar, calendars, changeCalendar, eventsOf, removeCalendar, type Calendar } from './event-calendars.ts'
import { isManaging, removal } from './open-dialogs.ts'
import { words } from './words.ts'

const change = (calendar: Calendar, fields: Parameters<typeof changeCalendar>[1]): void =>
  void changeCalendar(calendar, fields).catch(toastError)

function Line({ calendar }: { calendar: Calendar }) {
  const { name, color } = calendar
  return (
    <li class="calendar-line">
      <ShownBox calendar={calendar} label={words('show_calendar', name)} />
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

async function remove(calendar: Calendar, target: Calendar | undefined): Promise<void> {
  removal.value = undefined
  // Behind a modal dialog, Undo could not be pressed.
  isManaging.value = false
  const { undo, error } = await removeCalendar(calendar, target)
  offerUndo(words(error === undefined ? 'calendar_deleted' : 'calendar_not_deleted', calendar.name), undo, { error })
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
        onChange={({ currentTarget }) => void (removal.value = { id: calendar.row!.id, target: currentTarget.value })}
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
  const removed = removal.value && calendars.value.find(({ row }) => row?.id === removal.value?.id)
  if (removed) return <Removal calendar={removed} target={removal.value!.target} />
  if (!isManaging.value) return null
  return (
    <Dialog title={words('calendars')} onClose={() => void (isManaging.value = false)}>
      <ul class="calendar-lines">
        {calendars.value.map((calendar, index) => (
          // The default calendar gets a UID with its first change.
          <Line key={index === 0 ? '' : calendar.uid} calendar={calendar} />
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
