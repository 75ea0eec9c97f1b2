import { followSnapshot } from '../kit/row-snapshot.ts'
import type { AnswerOf } from '../wire/actions.ts'
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

const listeners = new Set<Listener>()

/** Subscribes to the rows that have a day. With `reset`, the changes are the inserts of all rows that there are. */
export const onDatedRows = (listener: Listener): void => void listeners.add(listener)

const notifyListeners: Listener = (changes, reset) => {
  for (const listener of listeners) listener(changes, reset)
}

const isDated = (change: Change): change is DatedChange => tables.some((table) => table === change.table)

const rowsOf = (snapshot: AnswerOf<'rows.list'>, table: DatedTable): DatedChange[] =>
  (snapshot.data[table] as unknown as DatedChange['data'][]).map((data) => ({
    table,
    operation: 'INSERT',
    data,
    cursor: snapshot.cursor,
  }))

/** Loads events, tasks and calendars once for all that show or remind of them, and follows their changes. */
export function startDatedRows(): void {
  let isLoaded = false
  const snapshot = followSnapshot<AnswerOf<'rows.list'>, DatedChange>({
    request: () => call('rows.list', { tables: tables.join() }),
    onSnapshot(rows) {
      isLoaded = true
      notifyListeners(
        tables.flatMap((table) => rowsOf(rows, table)),
        true,
      )
    },
    onChanges: (changes) => void (isLoaded && notifyListeners(changes, false)),
  })
  onChanges((changes, reset) => {
    if (reset) snapshot.reset()
    else snapshot.receive(changes.filter(isDated))
  })
  void snapshot.load()
}
