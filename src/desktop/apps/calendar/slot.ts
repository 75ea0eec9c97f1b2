import { signal } from '@preact/signals'
import { addDays } from '../../kit/days.ts'
import { selected } from './store.ts'

export const SLOT_MINUTES = 30

/** The part of the selected day that the keyboard is at, minutes. */
export const slot = signal({ minute: 9 * 60, length: 60 })

/** Whether the slot gets the focus where it is rendered next. */
export const isSlotFocused = signal(false)

/** Arrows move the slot, with Shift they change its length. */
export function onSlotKey(event: KeyboardEvent): void {
  if (event.altKey || event.ctrlKey || event.metaKey) return
  const { minute, length } = slot.value
  const vertical = { ArrowUp: -SLOT_MINUTES, ArrowDown: SLOT_MINUTES }[event.key]
  const days = { ArrowLeft: -1, ArrowRight: 1, PageUp: -7, PageDown: 7 }[event.key]
  if (vertical !== undefined && event.shiftKey) {
    slot.value = { minute, length: Math.max(SLOT_MINUTES, Math.min(1_440 - minute, length + vertical)) }
  } else if (vertical !== undefined) {
    slot.value = { minute: Math.max(0, Math.min(1_440 - length, minute + vertical)), length }
  } else if (days !== undefined) selected.value = addDays(selected.value, days)
  else if (event.key === 'Home') slot.value = { minute: 0, length }
  else if (event.key === 'End') slot.value = { minute: 1_440 - length, length }
  else return
  isSlotFocused.value = true
  event.preventDefault()
}
