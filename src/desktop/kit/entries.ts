import { computed, effect, signal } from '@preact/signals'
import { tables, type Column, type TableName } from '../../contract/tables.ts'
import { bridge } from './bridge.ts'
import { makeAutosave, type Draft } from './autosave.ts'
import { keepDeletedRows } from './deleted-rows.ts'
import { overlayDrafts, type Entry } from './overlay.ts'
import { openTable, uuid, type Fields } from './rows.ts'

export type { Entry } from './overlay.ts'

interface Options<N extends TableName> {
  blank: Fields<N>
  /** Whether a new row can be saved; until then it is kept locally. */
  isComplete: (fields: Fields<N>) => boolean
}

/** The rows of a table with autosave, live updates and a selected row. */
export function openEntries<N extends TableName>(name: N, { blank, isComplete }: Options<N>) {
  const columns: Record<string, Column> = tables[name].columns
  const table = openTable(name)
  const drafts = makeAutosave(table)
  const open = signal<string | undefined>(undefined)
  const newEntry = signal<Entry<N> | undefined>(undefined)
  /** A new entry as it was opened. */
  let created: Entry<N> | undefined
  let onFirstWrite = (): void => {}

  const { all, find } = overlayDrafts(table, drafts, blank)

  const current = computed(() => {
    const key = open.value
    if (key === undefined) return undefined
    return newEntry.value?.key === key ? newEntry.value : find(key)
  })

  const fieldsOf = (entry: Fields<N>): Fields<N> =>
    Object.fromEntries(
      Object.keys(columns).map((column) => [column, entry[column as keyof Fields<N>]]),
    ) as unknown as Fields<N>

  const draftOf = (entry: Entry<N>): Draft<N> | undefined =>
    entry.row ? drafts.of(entry.row.id) : drafts.all.value.get(entry.key)

  const removeEntry = keepDeletedRows({ table, drafts, open, fieldsOf })

  // A path such as `/12` opens the row with that id.
  effect(() => {
    const id = /^\/(\d+)$/.exec(bridge.path.value)?.[1]
    if (id !== undefined) open.value = id
  })

  effect(() => bridge.setLocation(current.value?.row ? `/${current.value.row.id}` : '/'))

  return {
    name,
    columns,
    table,
    drafts,
    open,
    all,
    /** The entry with a key, with its unsaved changes. */
    find,
    /** The open entry; a new one stays open when it gets its row. */
    current,
    draftOf,
    /** Whether nothing of a new entry was sent yet. */
    isNew: (entry: Entry<N>): boolean => newEntry.value?.key === entry.key,
    /** Whether nothing was entered in a new entry yet. */
    isUntouched: (entry: Entry<N>): boolean => newEntry.value === created && created?.key === entry.key,
    /** Changes an entry; it is saved after a delay. */
    write(entry: Entry<N>, fields: Partial<Fields<N>>): void {
      const fresh = newEntry.peek()
      if (fresh?.key !== entry.key) {
        drafts.write(entry.row, fields, entry.row ? undefined : entry.key)
        return
      }
      const next = { ...fresh, ...fields }
      const isReady = isComplete(next)
      if (isReady) drafts.write(undefined, fieldsOf(next), fresh.key)
      newEntry.value = isReady ? undefined : next
      if (isReady) onFirstWrite()
    },
    /** Opens a new entry. `whenWritten` is called after its first input that can be saved. */
    create(fields: Partial<Fields<N>> = {}, whenWritten = (): void => {}): void {
      const key = uuid()
      onFirstWrite = whenWritten
      created = { ...blank, ...fields, key, row: undefined, updated_at: new Date().toISOString() }
      newEntry.value = created
      open.value = key
    },
    fieldsOf,
    /** Adds an entry without opening it; returns its key. */
    add: (fields: Partial<Fields<N>>): string => drafts.write(undefined, { ...blank, ...fields }),
    close(): void {
      newEntry.value = undefined
      open.value = undefined
      drafts.flush()
    },
    /** Deletes an entry; returns a function that inserts it as a new row. */
    async remove(entry: Entry<N>): Promise<() => Promise<void>> {
      const last = find(entry.key) ?? entry
      await removeEntry(entry)
      if (current.value === undefined) open.value = undefined
      return async () => void (await table.insert(fieldsOf(last)))
    },
  }
}

export type Entries<N extends TableName> = ReturnType<typeof openEntries<N>>
