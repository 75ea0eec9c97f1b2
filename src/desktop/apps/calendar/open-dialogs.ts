import { signal } from '@preact/signals'

/** Whether the dialog of all calendars is open. */
export const isManaging = signal(false)

/** The row of the calendar that is to be deleted, and the UID of the one that its events go to. */
export const removal = signal<{ id: number; target: string } | undefined>(undefined)
