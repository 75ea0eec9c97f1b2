import { makeExpander } from './expander.ts'

/** Expands a rule in a worker of an app. */
export const expand = makeExpander(async () => {
  const { default: RecurrenceWorker } = await import('./recurrence-worker.ts?worker&inline')
  return new RecurrenceWorker()
})
