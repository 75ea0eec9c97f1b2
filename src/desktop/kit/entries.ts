import { computed, effect, signal } from '@preact/signals'
import { tables, type Column, type TableName } from '../../contract/tables.ts'
import { bridge } from './bridge.ts'
import { makeAutosave, type Draft } from './autosave.ts'
import { overlayDrafts, type Entry } from './overlay.ts'
import { openTable, uuid, type Fields } from './rows.ts'

export type { Entry } from './overlay.ts'

interface Options<N extends TableName> {
  /** What a new one begins with. */
  blank: Fields<N>
  /** Whether a new one says enough to be kept; until then nothing is sent. */
  isComplete: (fields: Fields<N>) => boolean
}

/**
 * The rows of a table for an app that shows and edits them: what is written is saved by itself over the version it was
 * read in, what changes elsewhere appears, and one of them is open.
 */
export function openEntries<N extends TableName>(name: N, { blank, isComplete }: Options<N>) {
  const columns: Record<string, Column> = tables[name].columns
  const table = openTable(name)
  const drafts = makeAutosave(table, 'drafts')
  /** Key of the one that is open. */
  const open = signal<string | undefined>(undefined)
  /** A new one that is not complete yet. */
  const newEntry = signal<Entry<N> | undefined>(undefined)

  const all = overlayDrafts(table, drafts, blank)

  const current = computed(() => {
    const key = open.value
    if (key === undefined) return undefined
    if (newEntry.value?.key === key) return newEntry.value
    const id = drafts.insertedId(key)
    return all.value.find((entry) => entry.key === key) ?? all.value.find((entry) => entry.row?.id === id)
  })

  const fieldsOf = (entry: Entry<N>): Fields<N> =>
    Object.fromEntries(
      Object.keys(columns).map((column) => [column, entry[column as keyof Fields<N>]]),
    ) as unknown as Fields<N>

  const draftOf = (entry: Entry<N>): Draft<N> | undefined =>
    entry.row ? drafts.of(entry.row.id) : drafts.all.value.get(entry.key)

  // A path such as `/12` asks for the row with that id.
  effect(() => {
    const id = /^\/(\d+)$/.exec(bridge.path.value)?.[1]
    if (id !== undefined) open.value = id
  })

  return {
    name,
    columns,
    table,
    drafts,
    open,
    all,
    /** The one that is open; a new one stays open when it gets its row. */
    current,
    draftOf,
    /** Whether it is a new one of which nothing was sent yet. */
    isNew: (entry: Entry<N>): boolean => newEntry.value?.key === entry.key,
    /** Writes into one; it is saved a moment later. */
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
    },
    /** Begins a new one and opens it. */
    create(fields: Partial<Fields<N>> = {}): void {
      const key = uuid()
      newEntry.value = { ...blank, ...fields, key, row: undefined, updated_at: new Date().toISOString() }
      open.value = key
    },
    /** Keeps a new one that is complete, without opening it. */
    add: (fields: Partial<Fields<N>>): void => void drafts.write(undefined, { ...blank, ...fields }),
    /** Closes the one that is open and saves what waits. */
    close(): void {
      newEntry.value = undefined
      open.value = undefined
      drafts.flush()
    },
    /** Deletes one; answers what brings it back as a new row. */
    async remove(entry: Entry<N>): Promise<() => Promise<void>> {
      const draft = draftOf(entry)
      if (draft) drafts.resolve(draft.key, 'theirs')
      if (entry.row) await table.remove(entry.row.id)
      if (current.value === undefined) open.value = undefined
      return async () => void (await table.insert(fieldsOf(entry)))
    },
  }
}

export type Entries<N extends TableName> = ReturnType<typeof openEntries<N>>
