import { computed } from '@preact/signals'
import type { NoteLinks } from './formatted-text/formatted-text.ts'
import type { Table } from './rows.ts'

/** Links between the rows of a table by their titles, as `[[Title]]`. Of several rows with one title, the newest is meant. */
export function linksByTitle(
  table: Table<'svc_notes'> | Table<'svc_docs'>,
  { open, create }: { open: (id: number) => void; create: (title: string) => void },
): NoteLinks {
  const rows = () => table.rows.value as readonly { id: number; title: string; updated_at: string }[]
  const ids = computed(
    () =>
      new Map(
        rows()
          .toSorted((a, b) => (a.updated_at < b.updated_at ? -1 : 1))
          .map(({ id, title }) => [title, id]),
      ),
  )
  return {
    titles: () => [...ids.value.keys()].filter((title) => title !== '' && !/[[\]\n]/.test(title)),
    has: (title) => ids.value.has(title),
    open(title) {
      const id = ids.value.get(title)
      if (id === undefined) create(title)
      else open(id)
    },
  }
}
