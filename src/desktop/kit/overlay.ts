import { computed } from '@preact/signals'
import type { TableName } from '../../contract/tables.ts'
import type { Autosave } from './autosave.ts'
import type { Fields, Row, Table } from './rows.ts'

/** A row with its unsaved changes applied. */
export type Entry<N extends TableName> = Fields<N> & {
  /** Key of the row, or of the draft of a new one. */
  key: string
  row: Row<N> | undefined
  updated_at: string
}

/** Applies drafts to rows. Entries keep their identity until their row changes, so typing into one recomputes no other. */
export function overlayDrafts<N extends TableName>(table: Table<N>, drafts: Autosave<N>, blank: Fields<N>) {
  const entryOfRow = new WeakMap<Row<N>, Entry<N>>()

  function entryOf(row: Row<N>): Entry<N> {
    const known = entryOfRow.get(row)
    if (known) return known
    const entry: Entry<N> = { ...row, key: `${row.id}`, row }
    entryOfRow.set(row, entry)
    return entry
  }

  const newEntry = (key: string, fields: Partial<Fields<N>>): Entry<N> => ({
    ...blank,
    ...fields,
    key,
    row: undefined,
    updated_at: new Date().toISOString(),
  })

  const saved = computed<readonly Entry<N>[]>(() => table.rows.value.map(entryOf))

  /** Drafts without a row; a draft whose row exists is shown as that row. */
  const fresh = computed(() =>
    [...drafts.all.value.values()].filter(({ id, key }) => table.get(id ?? drafts.insertedId(key) ?? 0) === undefined),
  )

  return {
    saved,
    /** Keys of entries without a row, separated by commas: the value changes only if their set does. */
    freshKeys: computed(() => fresh.value.map(({ key }) => key).join()),
    /** The entry of a row or a draft with its unsaved changes, in constant time. */
    find(key: string): Entry<N> | undefined {
      const row = table.get(drafts.insertedId(key) ?? Number(key))
      const draft = drafts.all.value.get(key) ?? (row && drafts.of(row.id))
      if (!row) return draft && newEntry(key, draft.fields)
      return draft ? { ...entryOf(row), ...draft.fields } : entryOf(row)
    },
    /** All entries with their unsaved changes; new ones come first. */
    all: computed<readonly Entry<N>[]>(() => {
      if (drafts.all.value.size === 0) return saved.value
      const written = new Map(
        [...drafts.all.value.values()].flatMap(({ id, fields }) => (id === undefined ? [] : [[id, fields] as const])),
      )
      return [
        ...fresh.value.map(({ key, fields }) => newEntry(key, fields)),
        ...saved.value.map((entry) => {
          const fields = written.get(entry.row!.id)
          return fields ? { ...entry, ...fields } : entry
        }),
      ]
    }),
  }
}

/** Full-text search: every word of the query must occur. The text of an entry is cached. */
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
