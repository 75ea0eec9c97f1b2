import { signal } from '@preact/signals'
import { confirmAndRemove } from '../../kit/entry-controls.tsx'
import type { Times } from '../../kit/event-days.ts'
import { formatDateTime, formatDay, formatTime } from '../../kit/formats.ts'
import { toast } from '../../kit/toast.tsx'
import { entryWords } from '../../kit/entry-words.ts'
import { noonOf } from '../../kit/days.ts'
import { resized, shifted, STEP } from './new-times.ts'
import type { Occurrence } from './occurrences.ts'
import { askScope } from './scope-dialog.tsx'
import { isRecurring, moveOccurrence, moveThis, removeOccurrence, type Recurring, type Undo } from './series-actions.ts'
import { entries } from './store.ts'
import { words } from './words.ts'

/** What screen readers are told of a change made by keys. */
export const announcement = signal('')

/** The occurrence that keeps the focus when its element is rendered elsewhere. */
export const focusedKey = signal<string | undefined>(undefined)

const textOf = ({ starts_at, ends_at, all_day }: Times): string => {
  if (all_day) return formatDay(noonOf(starts_at.slice(0, 10)))
  return ends_at === null ? formatDateTime(starts_at) : `${formatDateTime(starts_at)}–${formatTime(ends_at)}`
}

const isSame = (a: Times, b: Times): boolean =>
  a.all_day === b.all_day &&
  Date.parse(a.starts_at) === Date.parse(b.starts_at) &&
  (a.ends_at === b.ends_at || Date.parse(a.ends_at ?? '') === Date.parse(b.ends_at ?? ''))

function setTimes(key: string, times: Times): void {
  const event = entries.all.value.find((one) => one.key === key)
  if (event) entries.write(event, times)
}

function offerUndo(text: string, undo: Undo): void {
  toast(text, { action: { label: entryWords('undo'), run: undo } })
}

async function rescheduleOccurrence(of: Recurring, times: Times): Promise<void> {
  const scope = await askScope(words('move_title'), of.event.title || words('untitled'))
  const undo = scope && (await moveOccurrence(of, times, scope))
  if (undo) offerUndo(words('moved', of.event.title, textOf(times)), undo)
  else if (scope) toast(words('unreadable'), { tone: 'bad' })
}

/** Gives an event other times; a toast offers to undo it. */
export function reschedule(of: Occurrence, times: Times): void {
  const { key, title, starts_at, ends_at, all_day } = of.event
  const before = { starts_at, ends_at, all_day }
  if (isSame(before, times)) return
  if (isRecurring(of) && of.event.recurrence_id === null) return void rescheduleOccurrence(of, times)
  setTimes(key, times)
  offerUndo(words('moved', title, textOf(times)), () => setTimes(key, before))
}

/** Asks for confirmation and deletes an event, or occurrences of a series. */
export async function removeEvent(of: Occurrence): Promise<void> {
  const name = of.event.title || words('untitled')
  if (!isRecurring(of)) return confirmAndRemove({ of: entries, entry: of.event }, name)
  const scope = await askScope(entryWords('delete_title'), name)
  if (!scope) return
  entries.open.value = undefined
  offerUndo(entryWords('deleted'), removeOccurrence(of, scope))
}

/** Alt and an arrow move the event, with Shift they change its end: by a day or, where hours are shown, by a step. */
function timesByKey(of: Occurrence, { key, altKey, shiftKey }: KeyboardEvent): Times | undefined {
  if (!altKey) return undefined
  const sign = { ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1 }[key]
  if (sign === undefined) return undefined
  const isVertical = key === 'ArrowUp' || key === 'ArrowDown'
  const change = shiftKey ? resized : shifted
  if (!isVertical) return change(of, sign)
  return of.isBar ? change(of, sign * 7) : change(of, 0, sign * STEP)
}

/** The keys of an event that has the focus. */
export function onEventKey(of: Occurrence, event: KeyboardEvent): void {
  if (event.key === 'Delete') void removeEvent(of)
  else {
    const times = timesByKey(of, event)
    if (!times) return
    focusedKey.value = of.key
    if (isRecurring(of)) moveThis(of, times)
    else setTimes(of.event.key, times)
    announcement.value = textOf(times)
  }
  event.preventDefault()
  event.stopPropagation()
}
