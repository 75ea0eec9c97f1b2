import { MINUTE } from '../../base/clock.ts'
import type { Change } from '../wire/protocol.ts'
import { onChanges } from './feed.ts'
import { call } from './session.ts'

const tables = ['svc_events', 'svc_tasks', 'svc_calendars'] as const
type DatedTable = (typeof tables)[number]

/** A change of a row; `data` has its ID and, unless it was deleted, its columns. */
export interface DatedChange extends Change {
  table: DatedTable
}

type Listener = (changes: readonly DatedChange[], reset: boolean) => void

/** Delay before the rows are requested again after a failure, ms. */
const RETRY = MINUTE

const listeners = new Set<Listener>()

/** Subscribes to the rows that have a day. With `reset`, the changes are the inserts of all rows that there are. */
export const onDatedRows = (listener: Listener): void => void listeners.add(listener)

const notifyListeners: Listener = (changes, reset) => {
  for (const listener of listeners) listener(changes, reset)
}

const isDated = (change: Change): change is DatedChange => tables.some((table) => table === change.table)

async function load(): Promise<void> {
  const { data, cursor } = await call('rows.list', { tables: tables.join() })
  const rowsOf = (table: DatedTable): DatedChange[] =>
    (data[table] as unknown as DatedChange['data'][]).map((row) => ({ table, operation: 'INSERT', data: row, cursor }))
  notifyListeners(tables.flatMap(rowsOf), true)
}

/** Loads events, tasks and calendars once for all that show or remind of them, and follows their changes. */
export function startDatedRows(): void {
  let isLoaded = false
  const tryLoad = (): void =>
    void load().then(
      () => (isLoaded = true),
      () => setTimeout(tryLoad, RETRY),
    )
  onChanges((changes, reset) => {
    if (reset) return tryLoad()
    const dated = changes.filter(isDated)
    if (isLoaded && dated.length > 0) notifyListeners(dated, false)
  })
  tryLoad()
}
