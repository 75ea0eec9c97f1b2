import { CalendarCog, CalendarDays, ChevronLeft, ChevronRight, Plus } from 'lucide'
import { useEffect } from 'preact/hooks'
import { bridge } from '../../kit/bridge.ts'
import { Button, IconButton } from '../../kit/button.tsx'
import { FilterSelect } from '../../kit/field.tsx'
import { formatDay } from '../../kit/formats.ts'
import { today } from '../../kit/local-day.ts'
import { Icon } from '../../kit/icon.tsx'
import { Toolbar } from '../../kit/split-view.tsx'
import { Loading, OfflineBanner } from '../../kit/empty-state.tsx'
import { describeError } from '../../kit/api-error.ts'
import { FileMenu } from '../../kit/row-files/file-menu.tsx'
import { common } from '../../kit/words.ts'
import { addDays, addMonths, noonOf } from '../../kit/days.ts'
import { CalendarDialog } from './calendar-dialog.tsx'
import { CalendarSide } from './calendar-side.tsx'
import { DayList, WeekList } from './day-list.tsx'
import { announcement } from './event-actions.ts'
import { EventDialog } from './event-dialog.tsx'
import { askCalendar, ImportDialog } from './import-dialog.tsx'
import { Month } from './month.tsx'
import { isManaging } from './open-dialogs.ts'
import { ScopeDialog } from './scope-dialog.tsx'
import { createOn } from './new-events.ts'
import { entries, selected, show, view, views, type View } from './store.ts'
import { TimeView } from './time-view.tsx'
import { words } from './words.ts'

/** `November 2026`, or the day that is shown alone. */
function title(): string {
  const day = noonOf(selected.value)
  if (view.value === 'day') return formatDay(day)
  return new Intl.DateTimeFormat(document.documentElement.lang, { month: 'long', year: 'numeric' }).format(day)
}

const step = (by: -1 | 1): void => {
  const day = selected.value
  const to = { month: addMonths(day, by), day: addDays(day, by) } as Partial<Record<View, string>>
  selected.value = to[view.value] ?? addDays(day, by * 7)
}

function Bar() {
  return (
    <Toolbar label={words('calendar')}>
      <IconButton icon={ChevronLeft} label={words('previous')} onClick={() => step(-1)} />
      <IconButton icon={ChevronRight} label={words('next')} onClick={() => step(1)} />
      <Button onClick={() => void (selected.value = today())}>{words('today')}</Button>
      <h2 class="month-name" aria-live="polite">
        {title()}
      </h2>
      <FilterSelect
        class="calendar-view"
        aria-label={words('view')}
        value={view.value}
        options={views.map((name) => [name, words(name)])}
        onPick={(value) => show(value as View)}
      />
      <IconButton icon={Plus} label={words('new')} onClick={() => createOn(selected.value)} />
      <IconButton
        class="calendars-button"
        icon={CalendarCog}
        label={words('calendars')}
        onClick={() => void (isManaging.value = true)}
      />
      <FileMenu of={entries} formats={['ics']} name={words('calendar')} askTarget={askCalendar} />
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
  if (view.value === 'list') return <WeekList />
  if (view.value !== 'month') return <TimeView key={view.value} />
  return (
    <>
      <Month />
      <div class="month-day">
        <DayList day={selected.value} />
      </div>
    </>
  )
}

export function Calendar() {
  const event = entries.current.value
  const shown = title()
  useEffect(() => bridge.setTitle(`${shown} – ${words('calendar')}`), [shown])
  return (
    <>
      <h1 class="unseen">{words('calendar')}</h1>
      <OfflineBanner />
      <main class="calendar">
        <Bar />
        <div class="calendar-parts">
          <CalendarSide />
          <div class="calendar-days">
            <Days />
          </div>
        </div>
      </main>
      <p class="unseen" role="status">
        {announcement}
      </p>
      {event && <EventDialog key={entries.open.value} event={event} />}
      <ScopeDialog />
      <CalendarDialog />
      <ImportDialog />
    </>
  )
}
