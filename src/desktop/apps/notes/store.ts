import { computed, signal } from '@preact/signals'
import { bridge } from '../../kit/bridge.ts'
import { keepDrafts } from '../../kit/drafts.ts'
import { openTable, type Fields, type Row } from '../../kit/rows.ts'

export type NoteFields = Fields<'svc_notes'>

/** A note as it is shown: the row with what was written over it and is not saved yet. */
export interface Note extends NoteFields {
  /** Of the row, or of the draft of a new one. */
  key: string
  row: Row<'svc_notes'> | undefined
  updated_at: string
}

export const table = openTable('svc_notes')
export const drafts = keepDrafts(table, 'drafts')

export const sought = signal('')
export const category = signal('')
/** Key of the note that is open. */
export const open = signal<string | undefined>(undefined)

const empty: NoteFields = { title: '', content: '', category: null, pinned: false, color: null }

const all = computed<Note[]>(() => {
  const written = new Map(
    [...drafts.all.value.values()].flatMap(({ id, fields }) => (id === undefined ? [] : [[id, fields]])),
  )
  const known = table.rows.value.map((row): Note => ({ ...row, ...written.get(row.id), key: `${row.id}`, row }))
  const ids = new Set(table.rows.value.map(({ id }) => id))
  // A new one that has a row by now is shown as that row.
  const fresh = [...drafts.all.value.values()].filter(({ id, key }) => !ids.has(id ?? drafts.bornAs(key) ?? 0))
  const now = new Date().toISOString()
  return [
    ...fresh.map(({ key, fields }): Note => ({ ...empty, ...fields, key, row: undefined, updated_at: now })),
    ...known,
  ]
})

export const categories = computed(() =>
  [...new Set(all.value.map((note) => note.category ?? '').filter((name) => name !== ''))].toSorted((a, b) =>
    a.localeCompare(b),
  ),
)

const folded = (text: string): string => text.toLowerCase()

/** Notes of the list: those that were sought, pinned ones first, then the newest. */
export const notes = computed(() => {
  const words = folded(sought.value).split(/\s+/).filter(Boolean)
  return all.value
    .filter((note) => category.value === '' || note.category === category.value)
    .filter((note) => {
      const text = folded(`${note.title}\n${note.content ?? ''}\n${note.category ?? ''}`)
      return words.every((word) => text.includes(word))
    })
    .toSorted((a, b) => Number(b.pinned) - Number(a.pinned) || (a.updated_at < b.updated_at ? 1 : -1))
})

/** The note that is open; a new one stays open when it gets its row. */
export const current = computed(() => {
  const key = open.value
  if (key === undefined) return undefined
  const id = drafts.bornAs(key)
  return all.value.find((note) => note.key === key) ?? all.value.find((note) => note.row?.id === id)
})

export const draftOf = (note: Note) => (note.row ? drafts.of(note.row.id) : drafts.all.value.get(note.key))

/** Writes into a note; it is saved a moment later. */
export function write(note: Note, fields: Partial<NoteFields>): void {
  drafts.write(note.row, fields, note.row ? undefined : note.key)
}

export function create(): void {
  sought.value = ''
  open.value = drafts.write(undefined, {
    title: '',
    content: '',
    ...(category.value ? { category: category.value } : {}),
  })
}

/** Deletes a note; answers what brings it back as a new row. */
export async function remove(note: Note): Promise<() => Promise<void>> {
  const draft = draftOf(note)
  if (draft) drafts.settle(draft.key, 'theirs')
  if (note.row) await table.remove(note.row.id)
  if (current.value === undefined) open.value = undefined
  const { title, content, category: kind, pinned, color } = note
  return async () => {
    const id = await table.insert({ title, content, category: kind, pinned, color })
    open.value = `${id}`
  }
}

/** Shows what the desktop was asked to show: `/12` is the note with that id. */
export function followPath(): void {
  const id = /^\/(\d+)$/.exec(bridge.path.value)?.[1]
  if (id !== undefined) open.value = id
}
