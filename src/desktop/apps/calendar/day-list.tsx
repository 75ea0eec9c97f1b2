import { Plus } from 'lucide'
import { IconButton } from '../../kit/button.tsx'
import { formatDay } from '../../kit/formats.ts'
import { today } from '../../kit/local-day.ts'
import { noonOf } from '../../kit/days.ts'
import { EventChip, timesOf } from './event-chip.tsx'
import { occurrencesOn, shownDays } from './occurrences.ts'
import { createOn } from './new-events.ts'
import { words } from './words.ts'

/** A day with its events, one below the other. */
export function DayList({ day }: { day: string }) {
  const found = occurrencesOn(day)
  return (
    <section class={`list-day ${day === today() ? 'is-today' : ''}`} aria-label={formatDay(noonOf(day))}>
      <header>
        <h3>{formatDay(noonOf(day), 'short')}</h3>
        <IconButton icon={Plus} label={`${words('new')}: ${formatDay(noonOf(day))}`} onClick={() => createOn(day)} />
      </header>
      {found.length === 0 && <p>{words('nothing')}</p>}
      <ul>
        {found.map((of) => (
          <li key={of.key}>
            <EventChip of={of} time={of.event.all_day ? words('all_day') : timesOf(of)} />
            <small>{of.event.location}</small>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** The week as a list. */
export const WeekList = () => (
  <div class="week-list" tabIndex={-1}>
    {shownDays.value.map((day) => (
      <DayList key={day} day={day} />
    ))}
  </div>
)
