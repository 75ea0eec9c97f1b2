import { useSignal } from '@preact/signals'
import { DAY } from '../../../base/clock.ts'
import { isZone } from '../../../base/zoned-time.ts'
import { EntryField } from '../../kit/entry-field.tsx'
import { EntryDialog, EntryAlert } from '../../kit/entry-controls.tsx'
import { daysOf, type Times } from '../../kit/event-days.ts'
import { Select, Switch, TextField } from '../../kit/field.tsx'
import { ownZone } from '../../kit/local-day.ts'
import { ReminderFields } from '../../kit/reminder-fields.tsx'
import { RepeatFields } from '../../kit/recurrence/repeat-fields.tsx'
import { isSeries } from '../../kit/recurrence/series-starts.ts'
import { addDays, toLocalInput } from '../../kit/days.ts'
import { calendarOfEvent, calendars } from './event-calendars.ts'
import { removeEvent } from './event-actions.ts'
import { allDay } from './new-times.ts'
import { occurrenceOf } from './occurrences.ts'
import { currentOccurrence, isScopeFixed, opened, reopen } from './opened.ts'
import { changesOf, isUnreadable } from './series.ts'
import { identify, moveSeries, scopes, type Recurring, type Scope } from './series-actions.ts'
import { dayIn, endOfDay, lastDay } from './series-times.ts'
import { entries, notRepeated, type Event } from './store.ts'
import { words } from './words.ts'

interface Span {
  begin: string
  end: string
}

/** Values of the date inputs; the end may be empty. */
function spanOf(event: Event): Span {
  if (event.all_day) {
    const { first, last } = daysOf(event)
    return { begin: first, end: last }
  }
  return { begin: toLocalInput(event.starts_at), end: event.ends_at === null ? '' : toLocalInput(event.ends_at) }
}

/** The stored values; undefined for invalid input. */
function storedSpan({ begin, end }: Span, all_day: boolean): Times | undefined {
  if (begin === '' || (end !== '' && end < begin)) return undefined
  if (all_day) return allDay(begin, end || begin)
  const ends_at = end === '' ? null : new Date(end).toISOString()
  return { all_day, starts_at: new Date(begin).toISOString(), ends_at }
}

/** A series takes along what was changed or left out in it. */
function writeTimes(event: Event, times: Times): void {
  if (isSeries(event)) moveSeries(event, times)
  else entries.write(event, times)
}

function TimeFields({ event }: { event: Event }) {
  const entered = useSignal<Span | undefined>(undefined)
  const { begin, end } = entered.value ?? spanOf(event)
  const type = event.all_day ? 'date' : 'datetime-local'
  const write = (span: Span) => {
    entered.value = span
    const stored = storedSpan(span, event.all_day)
    if (stored) writeTimes(event, stored)
  }
  // Moving the start also moves the end.
  const moveBegin = (to: string) => {
    if (to === '' || end === '' || begin === '') return write({ begin: to, end })
    const by =
      Date.parse(`${to}${event.all_day ? 'T00:00Z' : ''}`) - Date.parse(`${begin}${event.all_day ? 'T00:00Z' : ''}`)
    const moved = event.all_day
      ? addDays(end, Math.round(by / DAY))
      : toLocalInput(new Date(Date.parse(end) + by).toISOString())
    return write({ begin: to, end: moved })
  }
  const leave = () => {
    if (storedSpan({ begin, end }, event.all_day)) entered.value = undefined
  }
  return (
    <div class="two">
      <TextField
        label={words('starts_at')}
        type={type}
        max={event.all_day ? '9998-12-31' : '9998-12-31T23:59'}
        value={begin}
        problem={begin === '' ? words(event.all_day ? 'no_day' : 'no_moment') : undefined}
        onText={moveBegin}
        onBlur={leave}
      />
      <TextField
        label={words('ends_at')}
        type={type}
        max={event.all_day ? '9998-12-31' : '9998-12-31T23:59'}
        value={end}
        problem={end !== '' && begin !== '' && end < begin ? words('backwards') : undefined}
        onText={(value) => write({ begin, end: value })}
        onBlur={leave}
      />
    </div>
  )
}

/** Switches between all-day and timed, keeping the days. */
function toggleAllDay(event: Event, all_day: boolean): void {
  const { first, last } = daysOf(event)
  const span = all_day ? { begin: first, end: last } : { begin: `${first}T09:00`, end: `${last}T10:00` }
  const stored = storedSpan(span, all_day)
  if (stored) writeTimes(event, stored)
}

function EventRepeat({ event }: { event: Event }) {
  // A rule keeps its zone; a new one counts by the clock of the browser.
  const isNew = event.rrule === null && !event.all_day
  const tzid = event.tzid ?? (isNew ? ownZone() : null)
  const series = { ...event, tzid }
  return (
    <RepeatFields
      rrule={event.rrule}
      addedDates={event.rdates?.length}
      first={dayIn(series, event.starts_at)}
      isAllDay={event.all_day}
      toDay={(moment) => lastDay(series, moment)}
      endOf={(day) => endOfDay(series, day)}
      problem={isUnreadable(event) && words('unreadable')}
      onRule={(rrule) =>
        entries.write(
          event,
          rrule === null ? notRepeated : { tzid: event.all_day ? null : tzid, uid: identify(event), rrule },
        )
      }
    />
  )
}

/** What a change is for, where an occurrence of a series is open. */
function ScopeField({ of, scope, isFixed }: { of: Recurring; scope: Scope; isFixed: boolean }) {
  return (
    <Select
      label={words('scope')}
      options={scopes.map((value) => ({ value, label: words(`scope_${value}`) }))}
      value={scope}
      disabled={isFixed}
      hint={isFixed ? words('scope_fixed') : undefined}
      onChange={({ currentTarget }) => void reopen(of, currentTarget.value as Scope)}
    />
  )
}

/** A series takes its changed occurrences along. */
function CalendarField({ event }: { event: Event }) {
  if (calendars.value.length < 2) return null
  return (
    <Select
      label={words('calendar')}
      options={calendars.value.map(({ uid, name }) => ({ value: uid, label: name }))}
      value={calendarOfEvent(event).uid}
      onChange={({ currentTarget }) => {
        const calendar_uid = currentTarget.value || null
        entries.write(event, { calendar_uid })
        if (isSeries(event)) for (const changed of changesOf(event)) entries.write(changed, { calendar_uid })
      }}
    />
  )
}

/** The zone in which the times are shown, and that of the event if it is another. */
function zoneText({ tzid, rrule, rdates }: Event): string {
  const own = ownZone()
  const repeats = rrule !== null || rdates !== null
  const zone = tzid ?? (repeats ? 'UTC' : own)
  const text = words('zone', own)
  if (!isZone(zone)) return `${text} ${words('zone_unknown', zone)}`
  return zone === own ? text : `${text} ${words(repeats ? 'zone_of_series' : 'zone_of_event', zone)}`
}

export function EventDialog({ event }: { event: Event }) {
  const entryProps = { of: entries, entry: event }
  const shown = opened.value?.key === entries.open.value ? opened.value : undefined
  return (
    <EntryDialog
      {...entryProps}
      name={event.title || words('untitled')}
      title={words('event')}
      onRemove={() => void removeEvent(shown ? currentOccurrence(shown) : occurrenceOf(event))}
    >
      <EntryAlert {...entryProps} label={(name) => words(name as 'title')} />
      <div class="form">
        <EntryField {...entryProps} name="title" label={words('title')} autocomplete="off" data-first />
        {shown && <ScopeField of={shown.of} scope={shown.scope} isFixed={isScopeFixed(event)} />}
        <Switch label={words('all_day')} checked={event.all_day} onSwitch={(isOn) => toggleAllDay(event, isOn)} />
        <TimeFields key={`${event.all_day}`} event={event} />
        {event.recurrence_id === null && <EventRepeat event={event} />}
        <ReminderFields
          reminders={event.reminders}
          isDay={event.all_day}
          onChange={(change) => entries.write(event, change)}
        />
        <CalendarField event={event} />
        <EntryField {...entryProps} name="location" label={words('location')} autocomplete="off" />
        <EntryField {...entryProps} name="note" label={words('note')} />
        {!event.all_day && <p class="event-zone">{zoneText(event)}</p>}
      </div>
    </EntryDialog>
  )
}
