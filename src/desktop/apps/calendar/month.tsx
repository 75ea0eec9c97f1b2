import { useEffect, useRef } from 'preact/hooks'
import { formatDay, formatTime, today } from '../../kit/formats.ts'
import { addDays, addMonths, monthOf, noonOf, weekOf } from './days.ts'
import { createOn, entries, eventsOn, firstWeekday, selected, view, type Event } from './store.ts'
import { words } from './words.ts'

/** Events shown per day; the rest is counted. */
const MAX_EVENTS = 3

export const EventButton = ({ event, day, withEnd }: { event: Event; day: string; withEnd?: boolean }) => {
  const begins = new Date(event.starts_at)
  const isTimed = !event.all_day && today(begins) === day
  return (
    <button
      type="button"
      class={`event ${event.all_day ? 'is-all-day' : ''}`}
      onClick={(click) => {
        click.stopPropagation()
        entries.open.value = event.key
      }}
    >
      {isTimed && (
        <time>
          {formatTime(begins)}
          {withEnd && event.ends_at !== null && `–${formatTime(event.ends_at)}`}
        </time>
      )}
      <span>{event.title || words('untitled')}</span>
    </button>
  )
}

const weekday = (day: string): string =>
  new Intl.DateTimeFormat(document.documentElement.lang, { weekday: 'short' }).format(noonOf(day))

function moveSelection(key: string): boolean {
  const day = selected.value
  const to = {
    ArrowLeft: () => addDays(day, -1),
    ArrowRight: () => addDays(day, 1),
    ArrowUp: () => addDays(day, -7),
    ArrowDown: () => addDays(day, 7),
    PageUp: () => addMonths(day, -1),
    PageDown: () => addMonths(day, 1),
    Home: () => weekOf(day, firstWeekday.value)[0]!,
    End: () => weekOf(day, firstWeekday.value)[6]!,
  }[key]
  if (to) selected.value = to()
  return to !== undefined
}

/** Opens the week of a day, which has room for all events. */
function showWeek(day: string): void {
  selected.value = day
  view.value = 'week'
}

function Day({ day }: { day: string }) {
  const events = eventsOn(day)
  const isSelected = day === selected.value
  const isOther = day.slice(0, 7) !== selected.value.slice(0, 7)
  return (
    <td
      class={`day ${isOther ? 'is-other' : ''} ${day === today() ? 'is-today' : ''} ${isSelected ? 'is-selected' : ''}`}
      onClick={() => void (selected.value = day)}
      onDblClick={() => createOn(day)}
    >
      <button
        type="button"
        class="day-number"
        tabIndex={isSelected ? 0 : -1}
        data-day={day}
        aria-current={day === today() ? 'date' : undefined}
        aria-pressed={isSelected}
        aria-label={words('events_on', formatDay(noonOf(day)), events.length)}
        onClick={() => void (selected.value = day)}
      >
        {Number(day.slice(8))}
      </button>
      {events.slice(0, MAX_EVENTS).map((event) => (
        <EventButton key={event.key} event={event} day={day} />
      ))}
      {events.length > MAX_EVENTS && (
        <button type="button" class="more-events" onClick={() => showWeek(day)}>
          {words('more', events.length - MAX_EVENTS)}
        </button>
      )}
    </td>
  )
}

/** Six weeks around the selected day. */
export function Month() {
  const table = useRef<HTMLTableElement>(null)
  const isByKey = useRef(false)
  const weeks = monthOf(selected.value, firstWeekday.value)
  useEffect(() => {
    if (isByKey.current) table.current?.querySelector<HTMLElement>(`[data-day="${selected.value}"]`)?.focus()
    isByKey.current = false
  }, [selected.value])
  return (
    <table
      class="month"
      ref={table}
      aria-label={words('days')}
      onKeyDown={(event) => {
        if (!(event.target instanceof HTMLElement) || event.target.dataset['day'] === undefined) return
        if (event.key === 'Enter') createOn(selected.value)
        else {
          isByKey.current = true
          if (!moveSelection(event.key)) {
            isByKey.current = false
            return
          }
        }
        event.preventDefault()
      }}
    >
      <thead>
        <tr>
          {weeks[0]!.map((day) => (
            <th key={day} scope="col">
              {weekday(day)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {weeks.map((week) => (
          <tr key={week[0]}>
            {week.map((day) => (
              <Day key={day} day={day} />
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
