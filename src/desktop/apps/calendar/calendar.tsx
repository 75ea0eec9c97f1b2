import { CalendarDays, ChevronLeft, ChevronRight, Plus } from 'lucide'
import { useEffect } from 'preact/hooks'
import { bridge } from '../../kit/bridge.ts'
import { Button, IconButton } from '../../kit/button.tsx'
import { FilterSelect } from '../../kit/field.tsx'
import { formatDay, today } from '../../kit/formats.ts'
import { Icon } from '../../kit/icon.tsx'
import { Toolbar } from '../../kit/split-view.tsx'
import { Loading, OfflineBanner } from '../../kit/empty-state.tsx'
import { describeError } from '../../kit/api-error.ts'
import { common } from '../../kit/words.ts'
import { addDays, addMonths, noonOf, weekOf } from './days.ts'
import { EventDialog } from './event-dialog.tsx'
import { EventButton, Month } from './month.tsx'
import { createOn, entries, eventsOn, firstWeekday, selected, view } from './store.ts'
import { words } from './words.ts'

const monthName = (): string =>
  new Intl.DateTimeFormat(document.documentElement.lang, { month: 'long', year: 'numeric' }).format(
    noonOf(selected.value),
  )

function DayOfWeek({ day }: { day: string }) {
  const events = eventsOn(day)
  return (
    <section class={`week-day ${day === today() ? 'is-today' : ''}`} aria-label={formatDay(noonOf(day))}>
      <header>
        <h3>{formatDay(noonOf(day), 'short')}</h3>
        <IconButton icon={Plus} label={`${words('new')}: ${formatDay(noonOf(day))}`} onClick={() => createOn(day)} />
      </header>
      {events.length === 0 && <p>{words('nothing')}</p>}
      <ul>
        {events.map((event) => (
          <li key={event.key}>
            <EventButton event={event} day={day} withEnd />
            <small>{[event.all_day && words('all_day'), event.location].filter(Boolean).join(' · ')}</small>
          </li>
        ))}
      </ul>
    </section>
  )
}

function Bar() {
  const step = (by: -1 | 1) =>
    void (selected.value = view.value === 'month' ? addMonths(selected.value, by) : addDays(selected.value, by * 7))
  return (
    <Toolbar label={words('calendar')}>
      <IconButton icon={ChevronLeft} label={words('previous')} onClick={() => step(-1)} />
      <IconButton icon={ChevronRight} label={words('next')} onClick={() => step(1)} />
      <Button onClick={() => void (selected.value = today())}>{words('today')}</Button>
      <h2 class="month-name" aria-live="polite">
        {monthName()}
      </h2>
      <FilterSelect
        class="calendar-view"
        aria-label={words('view')}
        value={view.value}
        options={[
          ['month', words('month')],
          ['week', words('week')],
        ]}
        onPick={(value) => void (view.value = value as 'month')}
      />
      <IconButton icon={Plus} label={words('new')} onClick={() => createOn(selected.value)} />
    </Toolbar>
  )
}

function Days() {
  const { isLoaded, loadError, load } = entries.table
  if (loadError.value !== undefined && !isLoaded.value) {
    return (
      <div class="empty">
        <Icon of={CalendarDays} size={40} />
        <h2>{describeError(loadError.value)}</h2>
        <Button onClick={() => void load()}>{common('retry')}</Button>
      </div>
    )
  }
  if (!isLoaded.value) return <Loading />
  if (view.value === 'week') {
    return (
      <div class="week" tabIndex={-1}>
        {weekOf(selected.value, firstWeekday.value).map((day) => (
          <DayOfWeek key={day} day={day} />
        ))}
      </div>
    )
  }
  return (
    <>
      <Month />
      <div class="month-day">
        <DayOfWeek day={selected.value} />
      </div>
    </>
  )
}

export function Calendar() {
  const event = entries.current.value
  const month = monthName()
  useEffect(() => bridge.setTitle(`${month} – ${words('calendar')}`), [month])
  return (
    <>
      <h1 class="unseen">{words('calendar')}</h1>
      <OfflineBanner />
      <main class="calendar">
        <Bar />
        <Days />
      </main>
      {event && <EventDialog key={entries.open.value} event={event} />}
    </>
  )
}
