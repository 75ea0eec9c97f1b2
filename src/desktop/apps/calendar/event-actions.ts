import { signal } from '@preact/signals'
import { confirmAndRemove } from '../../kit/entry-controls.tsx'
import { formatDateTime, formatDay, formatTime } from '../../kit/formats.ts'
import { toast } from '../../kit/toast.tsx'
import { entryWords } from '../../kit/entry-words.ts'
import { noonOf } from './days.ts'
import { resized, shifted, STEP, type Times } from './new-times.ts'
import type { Occurrence } from './occurrences.ts'
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

/** Gives an event other times; a toast offers to undo it. */
export function reschedule({ event }: Occurrence, times: Times): void {
  const { key, starts_at, ends_at, all_day } = event
  const before = { starts_at, ends_at, all_day }
  if (isSame(before, times)) return
  setTimes(key, times)
  toast(words('moved', event.title, textOf(times)), {
    action: { label: entryWords('undo'), run: () => setTimes(key, before) },
  })
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
  if (event.key === 'Delete') void confirmAndRemove({ of: entries, entry: of.event }, of.event.title)
  else {
    const times = timesByKey(of, event)
    if (!times) return
    focusedKey.value = of.key
    setTimes(of.event.key, times)
    announcement.value = textOf(times)
  }
  event.preventDefault()
  event.stopPropagation()
}
