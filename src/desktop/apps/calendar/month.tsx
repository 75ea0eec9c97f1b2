import { signal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { daysOf } from '../../kit/event-days.ts'
import { formatDay, formatTime, formatWeekday } from '../../kit/formats.ts'
import { firstWeekday } from '../../kit/first-weekday.ts'
import { today } from '../../kit/local-day.ts'
import { addDays, addMonths, monthOf, noonOf, weekOf } from '../../kit/days.ts'
import { drag, followPointer } from './drag.ts'
import { BarChip, EventChip } from './event-chip.tsx'
import { placeBars, type Bar } from './event-layout.ts'
import { barOccurrences, occurrences, type Occurrence } from './occurrences.ts'
import { createOn, createTimes } from './new-events.ts'
import { selected, show } from './store.ts'
import { words } from './words.ts'

/** Lines of events for which a day has room, measured; the rest is counted. */
const capacity = signal(3)

/** Height of the number of a day, and of one event below it, rem; as in the styles. */
const NUMBER_HEIGHT = 1.8
const LINE_HEIGHT = 1.3

/** On narrow screens events are dots, of which three fit. */
const NARROW_REM = 36
const NARROW_CAPACITY = 3

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

/** What a day shows, line by line: bars that begin there, room for those that go on, events with hours. */
function linesOf(
  day: string,
  bars: readonly Bar<Occurrence>[],
  index: number,
): (Bar<Occurrence> | Occurrence | undefined)[] {
  const lines: (Bar<Occurrence> | Occurrence | undefined)[] = []
  for (const bar of bars) {
    if (bar.from > index || bar.from + bar.days <= index) continue
    while (lines.length < bar.lane) lines.push(undefined)
    lines[bar.lane] = bar
  }
  for (const one of occurrences.value) {
    if (one.isBar || one.first !== day) continue
    const free = lines.indexOf(undefined)
    if (free === -1) lines.push(one)
    else lines[free] = one
  }
  return lines
}

function Line({ of, index }: { of: Bar<Occurrence> | Occurrence | undefined; index: number }) {
  if (of === undefined) return <div class="line" />
  if (!('lane' in of)) return <EventChip of={of} class="line" time={formatTime(of.event.starts_at)} />
  if (of.from < index) return <div class="line is-continued" />
  const time = of.of.event.all_day ? '' : formatTime(of.of.event.starts_at)
  return <BarChip bar={of} class="line" style={{ '--days': of.days }} time={time} />
}

function Day({ day, index, bars }: { day: string; index: number; bars: readonly Bar<Occurrence>[] }) {
  const lines = linesOf(day, bars, index)
  const count = lines.filter((line) => line !== undefined).length
  const shown = lines.length > capacity.value ? Math.max(0, capacity.value - 1) : lines.length
  const hidden = lines.slice(shown).filter((line) => line !== undefined).length
  const isSelected = day === selected.value
  const target = drag.value && daysOf(drag.value.times)
  const marks = [
    day.slice(0, 7) !== selected.value.slice(0, 7) && 'is-other',
    day === today() && 'is-today',
    isSelected && 'is-selected',
    target && target.first <= day && target.last >= day && 'is-target',
  ]
  return (
    <td
      class={`day ${marks.filter(Boolean).join(' ')}`}
      data-date={day}
      onClick={() => void (selected.value = day)}
      onDblClick={() => createOn(day)}
      onPointerDown={(event) => followPointer(event, 'create', undefined, createTimes)}
    >
      <button
        type="button"
        class="day-number"
        tabIndex={isSelected ? 0 : -1}
        data-day={day}
        aria-current={day === today() ? 'date' : undefined}
        aria-pressed={isSelected}
        aria-label={words('events_on', formatDay(noonOf(day)), count)}
        onClick={() => void (selected.value = day)}
      >
        {Number(day.slice(8))}
      </button>
      {lines.slice(0, shown).map((line, at) => (
        <Line
          key={line === undefined ? `free-${at}` : 'lane' in line ? line.of.key : line.key}
          of={line}
          index={index}
        />
      ))}
      {hidden > 0 && (
        <button type="button" class="more-events" onClick={() => show('day', day)}>
          {words('more', hidden)}
        </button>
      )}
    </td>
  )
}

function Week({ days }: { days: readonly string[] }) {
  const bars = placeBars(days, barOccurrences.value)
  return (
    <tr>
      {days.map((day, index) => (
        <Day key={day} day={day} index={index} bars={bars} />
      ))}
    </tr>
  )
}

/** Measures how many events fit into a day. */
function measure(table: HTMLElement): void {
  const cell = table.querySelector('td')!
  const rem = parseFloat(getComputedStyle(document.documentElement).fontSize)
  const lines = Math.floor((cell.clientHeight / rem - NUMBER_HEIGHT) / LINE_HEIGHT)
  capacity.value = table.clientWidth / rem < NARROW_REM ? NARROW_CAPACITY : Math.max(1, lines)
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
  useLayoutEffect(() => {
    const observer = new ResizeObserver(() => measure(table.current!))
    observer.observe(table.current!)
    return () => observer.disconnect()
  }, [])
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
              {formatWeekday(noonOf(day))}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {weeks.map((week) => (
          <Week key={week[0]} days={week} />
        ))}
      </tbody>
    </table>
  )
}
