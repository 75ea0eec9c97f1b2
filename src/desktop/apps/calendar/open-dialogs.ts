import { signal } from '@preact/signals'
import type { Calendar } from './event-calendars.ts'

/** Whether the dialog of all calendars is open. */
export const isManaging = signal(false)

/** The calendar that is to be deleted, and the one that its events go to. */
export const removal = signal<{ calendar: Calendar; target: string } | undefined>(undefined)
