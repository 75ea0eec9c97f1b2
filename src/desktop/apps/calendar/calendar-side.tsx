import { Plus } from 'lucide'
import { IconButton } from '../../kit/button.tsx'
import { toastError } from '../../kit/toast.tsx'
import { CalendarMenu } from './calendar-menu.tsx'
import { CalendarSign, colorOf } from './calendar-sign.tsx'
import { addCalendar, calendars, changeCalendar, type Calendar } from './event-calendars.ts'
import { words } from './words.ts'

/** Whether a calendar is shown. A change that cannot be saved is undone. */
export const ShownBox = ({ calendar, label }: { calendar: Calendar; label?: string }) => (
  <input
    type="checkbox"
    checked={!calendar.hidden}
    aria-label={label}
    onChange={({ currentTarget: box }) => {
      const hidden = !box.checked
      void changeCalendar(calendar, { hidden }).catch((error: unknown) => {
        box.checked = hidden
        toastError(error)
      })
    }}
  />
)

/** The calendars beside the days of a wide window; others have them in a dialog. */
export const CalendarSide = () => (
  <section class="calendar-side" aria-label={words('calendars')}>
    <header>
      <h3>{words('calendars')}</h3>
      <IconButton
        icon={Plus}
        label={words('add_calendar')}
        onClick={() => void addCalendar(words('new_calendar')).catch(toastError)}
      />
    </header>
    <ul>
      {calendars.value.map((calendar, index) => (
        <li key={index === 0 ? '' : calendar.uid} style={colorOf(calendar)}>
          <label>
            <ShownBox calendar={calendar} />
            <CalendarSign of={calendar} />
            <span>{calendar.name}</span>
          </label>
          <CalendarMenu calendar={calendar} />
        </li>
      ))}
    </ul>
  </section>
)
