import { batch, signal } from '@preact/signals'
import { isSeries } from '../../kit/recurrence/series-starts.ts'
import { toast } from '../../kit/toast.tsx'
import { occurrenceOf, type Occurrence } from './occurrences.ts'
import { changedFields, identify, isRecurring, openerOf, type Recurring, type Scope } from './series-actions.ts'
import { shifter } from './series-times.ts'
import { entries, type Event } from './store.ts'
import { words } from './words.ts'

interface Opened {
  /** The occurrence as it was when its dialog was opened. */
  of: Recurring
  scope: Scope
  /** Key of the event that a change is written to. */
  key: string
  /** Its fields when it was opened; undefined for a new one. */
  fields: string | undefined
}

/** The occurrence whose dialog is open, and what a change in it is for. */
export const opened = signal<Opened | undefined>(undefined)

const textOf = (event: Event): string => JSON.stringify(entries.fieldsOf(event))

/** Whether something was changed in the open dialog: the change was for its scope, so another cannot be chosen. */
export const isScopeFixed = (event: Event): boolean => {
  const fields = opened.value?.fields
  return fields === undefined ? !entries.isUntouched(event) : fields !== textOf(event)
}

/** A changed occurrence is opened as such; of another one, nothing is stored before it is changed. */
function openThis(of: Recurring): void {
  if (of.event.recurrence_id !== null) entries.open.value = of.event.key
  else entries.create(changedFields(of), () => void identify(of.recurrence.series))
}

function openAs(of: Recurring, scope: Scope, open: () => void): void {
  batch(() => {
    entries.close()
    open()
    const event = entries.current.value
    const fields = event && !entries.isNew(event) ? textOf(event) : undefined
    opened.value = { of, scope, key: entries.open.value!, fields }
  })
}

/** Opens the dialog of an occurrence. */
export function openOccurrence(of: Occurrence): void {
  if (isRecurring(of)) openAs(of, 'this', () => openThis(of))
  else entries.open.value = of.event.key
}

/** Opens the occurrences of another scope instead. */
export async function reopen(of: Recurring, scope: Scope): Promise<void> {
  if (scope === 'this') return openAs(of, scope, () => openThis(of))
  const before = opened.peek()
  const open = await openerOf(of, scope)
  const event = entries.current.peek()
  // The dialog may have been closed meanwhile, or something may have been changed in it.
  if (opened.peek() !== before || !event || isScopeFixed(event)) return
  if (open) return openAs(of, scope, open)
  toast(words('unreadable'))
  // The field shows the scope again that is open.
  opened.value = before && { ...before }
}

/** The occurrence of the open dialog as it is now: a change may have moved its series, or made it the first of another. */
export function currentOccurrence({ of, key }: Opened): Occurrence {
  const event = entries.find(key)
  if (!event || event.recurrence_id !== null) return of
  if (!isSeries(event)) return occurrenceOf(event)
  const { series, at } = of.recurrence
  const startsAt = event.key === series.key ? shifter(series, event)(new Date(at).toISOString()) : event.starts_at
  return { ...of, event, recurrence: { series: event, at: Date.parse(startsAt) } }
}
