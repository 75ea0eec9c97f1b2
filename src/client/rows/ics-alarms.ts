import ICAL from 'ical.js'
import type { ImportWords } from './import-words.ts'

/** Most reminders of an event that are read. */
const MAX_REMINDERS = 20

/** Most minutes before or after the start. */
const MAX_MINUTES = 999_999

/** Whether an alarm shows or sounds; others send e-mail. */
export const isReminder = (alarm: ICAL.Component): boolean =>
  ['DISPLAY', 'AUDIO'].includes(String(alarm.getFirstPropertyValue('action') ?? 'DISPLAY').toUpperCase())

const remindersIn = (event: ICAL.Component): ICAL.Component[] => event.getAllSubcomponents('valarm').filter(isReminder)

/** Whether an event has reminders that do not move with its start. */
export const hasFixedReminder = (event: ICAL.Component): boolean =>
  remindersIn(event).some((alarm) => {
    const trigger = alarm.getFirstProperty('trigger')
    return trigger?.getFirstValue() instanceof ICAL.Time || trigger?.getFirstParameter('related') === 'END'
  })

export interface AlarmContext {
  start: number
  end: number
  isSeries: boolean
  momentOf: (time: ICAL.Time) => number
  words: ImportWords
}

/** Minutes before the start at which an alarm is due, or why it has none. */
function minutesOf(alarm: ICAL.Component, { start, end, isSeries, momentOf, words }: AlarmContext): number | string {
  const trigger = alarm.getFirstProperty('trigger')
  const value: unknown = trigger?.getFirstValue()
  if (value instanceof ICAL.Duration) {
    const after = (trigger!.getFirstParameter('related') === 'END' ? end - start : 0) + value.toSeconds() * 1_000
    return Math.round(-after / 60_000)
  }
  if (!(value instanceof ICAL.Time)) return words.reminder_without_time
  if (isSeries) return words.reminder_fixed
  return Math.round((start - momentOf(value)) / 60_000)
}

/** The reminders of an event as minutes before its start. What cannot be converted is added to the notes. */
export function remindersOf(event: ICAL.Component, context: AlarmContext, notes: string[]): string[] | null {
  const minutes = new Set<string>()
  for (const alarm of remindersIn(event)) {
    const before = minutesOf(alarm, context)
    if (typeof before === 'string') notes.push(before)
    else if (!(Math.abs(before) <= MAX_MINUTES)) notes.push(context.words.reminder_far(MAX_MINUTES))
    else minutes.add(`${before === 0 ? 0 : before}`)
  }
  const kept = [...minutes].slice(0, MAX_REMINDERS)
  if (kept.length < minutes.size) notes.push(context.words.reminders_many(MAX_REMINDERS))
  return kept.length > 0 ? kept : null
}
