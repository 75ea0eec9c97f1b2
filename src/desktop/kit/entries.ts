import { computed, effect, signal } from '@preact/signals'
import { tables, type Column, type TableName } from '../../contract/tables.ts'
import { bridge } from './bridge.ts'
import { keepDrafts, type Draft } from './drafts.ts'
import { openTable, uuid, type Fields, type Row } from './rows.ts'

/** A row as it is shown: with what was written over it and is not saved yet. */
export type Entry<N extends TableName> = Fields<N> & {
  /** Of the row, or of the draft of a new one. */
  key: string
  row: Row<N> | undefined
  updated_at: string
}

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
  const drafts = keepDrafts(table, 'drafts')
  /** Key of the one that is open. */
  const open = signal<string | undefined>(undefined)
  /** A new one that is not complete yet. */
  const begun = signal<Entry<N> | undefined>(undefined)

  const all = computed<Entry<N>[]>(() => {
    const waiting = [...drafts.all.value.values()]
    const written = new Map(waiting.flatMap(({ id, fields }) => (id === undefined ? [] : [[id, fields] as const])))
    const rows = table.rows.value
    const known = rows.map((row): Entry<N> => ({ ...row, ...written.get(row.id), key: `${row.id}`, row }))
    const ids = new Set(rows.map(({ id }) => id))
    const now = new Date().toISOString()
    // A new one that has a row by now is shown as that row.
    const fresh = waiting.filter(({ id, key }) => !ids.has(id ?? drafts.bornAs(key) ?? 0))
    return [
      ...fresh.map(({ key, fields }): Entry<N> => ({ ...blank, ...fields, key, row: undefined, updated_at: now })),
      ...known,
    ]
  })

  const current = computed(() => {
    const key = open.value
    if (key === undefined) return undefined
    if (begun.value?.key === key) return begun.value
    const id = drafts.bornAs(key)
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
    isBegun: (entry: Entry<N>): boolean => begun.value?.key === entry.key,
    /** Writes into one; it is saved a moment later. */
    write(entry: Entry<N>, fields: Partial<Fields<N>>): void {
      const fresh = begun.peek()
      if (fresh?.key !== entry.key) {
        drafts.write(entry.row, fields, entry.row ? undefined : entry.key)
        return
      }
      const next = { ...fresh, ...fields }
      const isEnough = isComplete(next)
      if (isEnough) drafts.write(undefined, fieldsOf(next), fresh.key)
      begun.value = isEnough ? undefined : next
    },
    /** Begins a new one and opens it. */
    create(fields: Partial<Fields<N>> = {}): void {
      const key = uuid()
      begun.value = { ...blank, ...fields, key, row: undefined, updated_at: new Date().toISOString() }
      open.value = key
    },
    /** Keeps a new one that is complete, without opening it. */
    add: (fields: Partial<Fields<N>>): void => void drafts.write(undefined, { ...blank, ...fields }),
    /** Closes the one that is open and saves what waits. */
    close(): void {
      begun.value = undefined
      open.value = undefined
      drafts.flush()
    },
    /** Deletes one; answers what brings it back as a new row. */
    async remove(entry: Entry<N>): Promise<() => Promise<void>> {
      const draft = draftOf(entry)
      if (draft) drafts.settle(draft.key, 'theirs')
      if (entry.row) await table.remove(entry.row.id)
      if (current.value === undefined) open.value = undefined
      return async () => void (await table.insert(fieldsOf(entry)))
    },
  }
}

export type Entries<N extends TableName> = ReturnType<typeof openEntries<N>>
