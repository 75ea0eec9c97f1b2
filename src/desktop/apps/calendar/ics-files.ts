import type { Candidate } from '../../../client/rows/row-files.ts'
import { bridge } from '../../kit/bridge.ts'
import { ownZone } from '../../kit/local-day.ts'
import { uuid } from '../../kit/rows.ts'
import { entries } from './store.ts'

/** Largest file that is read here, bytes: a page stands still meanwhile. `svc data import` takes larger ones. */
export const MAX_ICS = 10 * 1_048_576

/** Most events of a request, and most characters of their texts. */
const BATCH = 50
const BATCH_SIZE = 2_000_000

export interface ImportResult {
  /** IDs of the new events. */
  added: number[]
  updated: number
  /** What could not be imported, such as `event 3: it has no beginning.` */
  problems: string[]
  /** What of imported events is not taken over. */
  notes: string[]
  /** Number of events that are left out because they are cancelled. */
  cancelled: number
}

function* batchesOf(candidates: readonly Candidate[]): Generator<Candidate[]> {
  let batch: Candidate[] = []
  let size = 0
  for (const candidate of candidates) {
    const length = JSON.stringify(candidate.values).length
    if (batch.length === BATCH || (batch.length > 0 && size + length > BATCH_SIZE)) {
      yield batch
      batch = []
      size = 0
    }
    batch.push(candidate)
    size += length
  }
  if (batch.length > 0) yield batch
}

async function send(batch: readonly Candidate[], result: ImportResult): Promise<void> {
  const operations = batch.map(({ id, values }) => ({
    table: 'svc_events' as const,
    op_id: uuid(),
    ...(id === undefined
      ? { operation: 'INSERT' as const, data: values }
      : { operation: 'UPDATE' as const, data: { ...values, id } }),
  }))
  const { results } = await bridge.call('rows.push', { operations })
  for (const [index, { status, id, error }] of results.entries()) {
    const { where, id: known } = batch[index]!
    if (status === 'error' || status === 'conflict') result.problems.push(`${where}: ${error ?? status}`)
    else if (known === undefined) result.added.push(id!)
    else result.updated++
  }
}

/** Adds the events of an iCalendar file, and updates those that the calendar has. `result` grows while they are sent. */
export async function importIcs(text: string, result: ImportResult): Promise<void> {
  const { readIcsFile, withKnownEvents } = await import('../../../client/rows/ics-import.ts')
  const { candidates, cancelled } = readIcsFile('svc_events', text, ownZone())
  result.cancelled = cancelled
  for (const { where, problems, notes = [] } of candidates) {
    result.problems.push(...problems.map((problem) => `${where}: ${problem}`))
    if (problems.length === 0) result.notes.push(...notes.map((note) => `${where}: ${note}`))
  }
  const sound = candidates.filter(({ problems }) => problems.length === 0)
  for (const batch of batchesOf(withKnownEvents(sound, entries.table.rows.value))) await send(batch, result)
}

/** Removes the events that an import has added. */
export async function removeImported(ids: readonly number[]): Promise<void> {
  for (let from = 0; from < ids.length; from += BATCH) {
    const operations = ids.slice(from, from + BATCH).map((id) => ({
      table: 'svc_events' as const,
      op_id: uuid(),
      operation: 'DELETE' as const,
      data: { id },
    }))
    await bridge.call('rows.push', { operations })
  }
}

/** All events as an iCalendar file. */
export async function exportIcs(): Promise<Blob> {
  const { formatIcs } = await import('../../../client/rows/ics-write.ts')
  return new Blob([formatIcs(entries.table.rows.value)], { type: 'text/calendar' })
}
