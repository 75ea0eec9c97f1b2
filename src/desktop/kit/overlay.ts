import { computed } from '@preact/signals'
import type { TableName } from '../../contract/tables.ts'
import type { Autosave } from './autosave.ts'
import type { Fields, Row, Table } from './rows.ts'

/** A row as it is shown: with what was written over it and is not saved yet. */
export type Entry<N extends TableName> = Fields<N> & {
  /** Of the row, or of the draft of a new one. */
  key: string
  row: Row<N> | undefined
  updated_at: string
}

/**
 * Rows with their drafts over them, new ones first. An entry without a draft stays the same object until its row changes, so
 * that a key typed into one of thousands makes one new object, and what was derived of the others stays valid.
 */
export function overlayDrafts<N extends TableName>(table: Table<N>, drafts: Autosave<N>, blank: Fields<N>) {
  const entryOfRow = new WeakMap<Row<N>, Entry<N>>()

  function entryOf(row: Row<N>): Entry<N> {
    const known = entryOfRow.get(row)
    if (known) return known
    const entry: Entry<N> = { ...row, key: `${row.id}`, row }
    entryOfRow.set(row, entry)
    return entry
  }

  const saved = computed(() => table.rows.value.map(entryOf))
  return computed<readonly Entry<N>[]>(() => {
    if (drafts.all.value.size === 0) return saved.value
    const waiting = [...drafts.all.value.values()]
    const written = new Map(waiting.flatMap(({ id, fields }) => (id === undefined ? [] : [[id, fields] as const])))
    const now = new Date().toISOString()
    // A new one that has a row by now is shown as that row.
    const fresh = waiting.filter(({ id, key }) => table.get(id ?? drafts.insertedId(key) ?? 0) === undefined)
    return [
      ...fresh.map(({ key, fields }): Entry<N> => ({ ...blank, ...fields, key, row: undefined, updated_at: now })),
      ...saved.value.map((entry) => {
        const fields = written.get(entry.row!.id)
        return fields ? { ...entry, ...fields } : entry
      }),
    ]
  })
}

/** A search over entries by the words of a query, each anywhere in an entry's text; the text of an entry is made once. */
export function makeSearch<E extends object>(textOf: (entry: E) => readonly (string | null)[]) {
  const texts = new WeakMap<E, string>()

  function foldedText(entry: E): string {
    const known = texts.get(entry)
    if (known !== undefined) return known
    const text = textOf(entry).join('\n').toLowerCase()
    texts.set(entry, text)
    return text
  }

  return (entries: readonly E[], query: string): readonly E[] => {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean)
    return words.length === 0
      ? entries
      : entries.filter((entry) => words.every((word) => foldedText(entry).includes(word)))
  }
}
