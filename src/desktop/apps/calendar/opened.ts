import { batch, signal } from '@preact/signals'
import { toast } from '../../kit/toast.tsx'
import type { Occurrence } from './occurrences.ts'
import { changedFields, isRecurring, openScope, type Recurring, type Scope } from './series-actions.ts'
import { entries } from './store.ts'
import { words } from './words.ts'

/** The occurrence whose dialog is open, and what a change in it is for. */
export const opened = signal<{ of: Recurring; scope: Scope; key: string } | undefined>(undefined)

/** A changed occurrence is opened as such; of another one, nothing is stored before it is changed. */
function openThis(of: Recurring): void {
  if (of.event.recurrence_id !== null) entries.open.value = of.event.key
  else entries.create(changedFields(of))
}

function openAs(of: Recurring, scope: Scope, open: () => void): void {
  batch(() => {
    entries.close()
    open()
    opened.value = { of, scope, key: entries.open.value! }
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
  const key = await openScope(of, scope)
  if (key === undefined) toast(words('unreadable'))
  else openAs(of, scope, () => void (entries.open.value = key))
}
