import { Plus } from 'lucide'
import { IconButton } from '../../kit/button.tsx'
import { toastError } from '../../kit/toast.tsx'
import { CalendarMenu } from './calendar-menu.tsx'
import { colorOf } from './calendar-sign.tsx'
import { addCalendar, calendars, changeCalendar } from './event-calendars.ts'
import { words } from './words.ts'

/** The calendars beside the days of a wide window; others have them in a dialog. */
export const CalendarSide = () => (
  <nav class="calendar-side" aria-label={words('calendars')}>
    <header>
      <h3>{words('calendars')}</h3>
      <IconButton
        icon={Plus}
        label={words('add_calendar')}
        onClick={() => void addCalendar(words('new_calendar')).catch(toastError)}
      />
    </header>
    <ul>
      {calendars.value.map((calendar) => (
        <li key={calendar.uid} style={colorOf(calendar)}>
          <label>
            <input
              type="checkbox"
              checked={!calendar.hidden}
              onChange={({ currentTarget }) =>
                void changeCalendar(calendar, { hidden: !currentTarget.checked }).catch(toastError)
              }
            />
            <span>{calendar.name}</span>
          </label>
          <CalendarMenu calendar={calendar} />
        </li>
      ))}
    </ul>
  </nav>
)
