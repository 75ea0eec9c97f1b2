import { signal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { MINUTE } from '../../../base/clock.ts'
import { daysOf } from '../../kit/event-days.ts'
import { formatDay, formatTime, formatWeekday } from '../../kit/formats.ts'
import { today } from '../../kit/local-day.ts'
import { atMinute, noonOf } from '../../kit/days.ts'
import { drag, followPointer } from './drag.ts'
import { BarChip, EventChip, timesOf } from './event-chip.tsx'
import { placeBars, placeSideBySide } from './event-layout.ts'
import { allDay } from './new-times.ts'
import { barOccurrences, shownDays, stretchesOn } from './occurrences.ts'
import { isSlotFocused, onSlotKey, slot, SLOT_MINUTES } from './slot.ts'
import { createAt, createTimes } from './new-events.ts'
import { selected, show } from './store.ts'
import { words } from './words.ts'

/** The clock, for the line that marks now. */
const now = signal(new Date())
const NOW_INTERVAL = 30_000

/** The hour at the top of the view when it opens, with its label. */
const MORNING = 6.75

const percent = (minutes: number): string => `${(minutes / 1_440) * 100}%`

function DayHead({ day }: { day: string }) {
  return (
    <div class={`time-day-head ${day === today() ? 'is-today' : ''}`}>
      <button
        type="button"
        title={formatDay(noonOf(day))}
        aria-current={day === today() ? 'date' : undefined}
        onClick={() => show('day', day)}
      >
        <span>{formatWeekday(noonOf(day))}</span> <b>{Number(day.slice(8))}</b>
      </button>
    </div>
  )
}

/** The bars above the hours; a day is drawn over or pressed to add an all-day event. */
function AllDayRow({ days }: { days: readonly string[] }) {
  const bars = placeBars(days, barOccurrences.value)
  const lanes = Math.max(0, ...bars.map(({ lane }) => lane + 1))
  const target = drag.value?.times.all_day ? daysOf(drag.value.times) : undefined
  return (
    <>
      <div class="all-day-label">{words('all_day_row')}</div>
      <div class="all-day" style={{ '--days': days.length, '--lanes': lanes }}>
        {days.map((day, index) => (
          <div
            key={day}
            class={`all-day-cell ${target && target.first <= day && target.last >= day ? 'is-target' : ''}`}
            data-date={day}
            style={{ gridColumn: index + 1 }}
            onPointerDown={(event) => followPointer(event, 'create', undefined, createTimes)}
            onDblClick={() => createTimes(allDay(day, day))}
          />
        ))}
        {bars.map((bar) => (
          <BarChip
            key={bar.of.key}
            bar={bar}
            style={{ gridColumn: `${bar.from + 1} / span ${bar.days}`, gridRow: bar.lane + 1 }}
            time={timesOf(bar.of)}
          />
        ))}
      </div>
    </>
  )
}

/** Where the event that is dragged would be. */
function DragPreview({ day }: { day: string }) {
  const { times, of } = drag.value ?? {}
  if (!times || times.all_day || of?.isBar) return null
  const start = new Date(times.starts_at)
  if (today(start) !== day) return null
  const begin = start.getHours() * 60 + start.getMinutes()
  const length = times.ends_at === null ? 30 : (Date.parse(times.ends_at) - start.getTime()) / MINUTE
  return (
    <div class="drag-preview" style={{ top: percent(begin), height: percent(Math.min(length, 1_440 - begin)) }}>
      <time>
        {formatTime(start)}
        {times.ends_at !== null && `–${formatTime(times.ends_at)}`}
      </time>{' '}
      {of?.event.title}
    </div>
  )
}

/** The half hour that the arrow keys move over; Enter adds an event there. */
function Slot({ day }: { day: string }) {
  const element = useRef<HTMLButtonElement>(null)
  const { minute, length } = slot.value
  const start = atMinute(day, minute)
  useLayoutEffect(() => {
    if (isSlotFocused.value && document.activeElement !== element.current) element.current?.focus()
  })
  return (
    <button
      ref={element}
      type="button"
      class="slot"
      style={{ top: percent(minute), height: percent(length) }}
      aria-label={words(
        'new_at',
        formatDay(start),
        `${formatTime(start)}–${formatTime(atMinute(day, minute + length))}`,
      )}
      onKeyDown={onSlotKey}
      onBlur={() => void (isSlotFocused.value = false)}
      onPointerDown={(event) => event.stopPropagation()}
      onClick={(click) => {
        click.stopPropagation()
        createAt(start, atMinute(day, minute + length).getTime() - start.getTime())
      }}
    >
      +
    </button>
  )
}

function TimeDay({ day }: { day: string }) {
  const placed = placeSideBySide(stretchesOn(day))
  const isToday = day === today(now.value)
  const minute = now.value.getHours() * 60 + now.value.getMinutes()
  /** A mouse adds an event where it is pressed; a finger first shows where. */
  const press = (event: MouseEvent & { currentTarget: HTMLElement }): void => {
    const { top, height } = event.currentTarget.getBoundingClientRect()
    const { clientY } = event
    const isFinger = event instanceof PointerEvent && event.pointerType === 'touch'
    const at = Math.floor((((clientY - top) / height) * 1_440) / SLOT_MINUTES) * SLOT_MINUTES
    if (isFinger) {
      selected.value = day
      slot.value = { minute: at, length: 60 }
      isSlotFocused.value = true
    } else createAt(atMinute(day, at))
  }
  return (
    <section
      class={`time-day ${isToday ? 'is-today' : ''}`}
      aria-label={words('events_on', formatDay(noonOf(day)), placed.length)}
      data-date={day}
      data-hours
      onClick={press}
      onPointerDown={(event) => followPointer(event, 'create', undefined, createTimes)}
    >
      {isToday && <div class="now-line" style={{ top: percent(minute) }} />}
      {day === selected.value && <Slot day={day} />}
      {placed.map(({ of: { of, begin, end, isEnd }, left, width }) => (
        <EventChip
          key={of.key}
          of={of}
          class={end - begin < 45 ? 'is-short' : ''}
          style={{
            top: percent(begin),
            height: percent(end - begin),
            left: `${left * 100}%`,
            width: `${width * 100}%`,
          }}
          time={timesOf(of)}
          handle={isEnd && 'bottom'}
        />
      ))}
      <DragPreview day={day} />
    </section>
  )
}

const hours = Array.from({ length: 23 }, (_, index) => index + 1)

/** One day or seven, with their hours. */
export function TimeView() {
  const view = useRef<HTMLDivElement>(null)
  const days = shownDays.value
  useEffect(() => {
    const timer = setInterval(() => void (now.value = new Date()), NOW_INTERVAL)
    return () => clearInterval(timer)
  }, [])
  useLayoutEffect(() => {
    const element = view.current!
    const body = element.querySelector<HTMLElement>('.time-body')!
    element.scrollTop = (body.offsetHeight / 24) * MORNING
  }, [])
  return (
    <div class={`time-view ${days.length > 1 ? 'is-week' : ''}`} ref={view} style={{ '--days': days.length }}>
      <div class="time-head">
        <div class="time-corner" />
        {days.map((day) => (
          <DayHead key={day} day={day} />
        ))}
        <AllDayRow days={days} />
      </div>
      <div class="time-body">
        <div class="hour-labels" aria-hidden>
          {hours.map((hour) => (
            <span key={hour} style={{ top: percent(hour * 60) }}>
              {formatTime(new Date(2026, 0, 1, hour))}
            </span>
          ))}
        </div>
        {days.map((day) => (
          <TimeDay key={day} day={day} />
        ))}
      </div>
    </div>
  )
}
