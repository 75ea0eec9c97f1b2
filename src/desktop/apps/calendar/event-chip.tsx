import { Repeat } from 'lucide'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { formatTime } from '../../kit/formats.ts'
import { Icon } from '../../kit/icon.tsx'
import { CalendarSign, colorOf } from './calendar-sign.tsx'
import { calendarOfEvent, calendars } from './event-calendars.ts'
import { drag, followPointer } from './drag.ts'
import { focusedKey, onEventKey, reschedule } from './event-actions.ts'
import type { Bar } from './event-layout.ts'
import type { Occurrence } from './occurrences.ts'
import { openOccurrence } from './opened.ts'
import { isRecurring } from './series-actions.ts'
import { words } from './words.ts'

/** `22:00–02:00`, or nothing for all-day events. */
export function timesOf({ event }: Occurrence): string {
  if (event.all_day) return ''
  return formatTime(event.starts_at) + (event.ends_at === null ? '' : `–${formatTime(event.ends_at)}`)
}

/** An event in a view: opened by a click, moved by dragging or by keys, with another end by its handle. */
export function EventChip({
  of,
  class: className = '',
  style,
  time,
  handle,
}: {
  of: Occurrence
  class?: string
  style?: Record<string, string | number>
  /** What is said of its time before the title. */
  time?: string
  /** The edge by which its end is dragged. */
  handle?: 'bottom' | 'side' | false | undefined
}) {
  const element = useRef<HTMLButtonElement>(null)
  useLayoutEffect(() => {
    if (focusedKey.value === of.key && document.activeElement !== element.current) element.current?.focus()
  })
  const calendar = calendarOfEvent(of.event)
  const isOneOfMany = calendars.value.length > 1
  const isDragged = drag.value?.of?.key === of.key
  return (
    <button
      ref={element}
      type="button"
      class={`event ${of.isBar ? 'is-bar' : ''} ${isDragged ? 'is-dragged' : ''} ${className}`}
      style={{ ...colorOf(calendar), ...style }}
      title={[
        timesOf(of),
        of.event.title,
        of.event.location,
        isRecurring(of) && words('repeats'),
        isOneOfMany && calendar.name,
      ]
        .filter(Boolean)
        .join('\n')}
      onClick={(click) => {
        click.stopPropagation()
        openOccurrence(of)
      }}
      onDblClick={(click) => click.stopPropagation()}
      onKeyDown={(event) => onEventKey(of, event)}
      onBlur={() => focusedKey.value === of.key && (focusedKey.value = undefined)}
      onPointerDown={(event) => {
        event.stopPropagation()
        followPointer(event, 'move', of, (times) => reschedule(of, times))
      }}
    >
      {time && <time>{time}</time>}
      <span>{of.event.title || words('untitled')}</span>
      {isRecurring(of) && <Icon of={Repeat} size={12} />}
      <CalendarSign of={calendar} />
      {isOneOfMany && <span class="unseen">, {calendar.name}</span>}
      {handle && (
        <span
          class={`event-handle ${handle}`}
          aria-hidden
          onPointerDown={(event) => {
            event.stopPropagation()
            followPointer(event, 'resize', of, (times) => reschedule(of, times))
          }}
        />
      )}
    </button>
  )
}

/** An event as a bar over its days; all-day events have a handle at the end. */
export function BarChip({
  bar: { of, isCutAtStart, isCutAtEnd },
  class: className = '',
  style,
  time,
}: {
  bar: Bar<Occurrence>
  class?: string
  style: Record<string, string | number>
  time: string
}) {
  return (
    <EventChip
      of={of}
      class={`${className} ${isCutAtStart ? 'is-cut-start' : ''} ${isCutAtEnd ? 'is-cut-end' : ''}`}
      style={style}
      time={time}
      handle={!isCutAtEnd && of.event.all_day && 'side'}
    />
  )
}
