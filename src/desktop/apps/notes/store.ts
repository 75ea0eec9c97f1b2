import { computed, signal } from '@preact/signals'
import { bridge } from '../../kit/bridge.ts'
import { makeAutosave } from '../../kit/autosave.ts'
import { makeSearch, overlayDrafts, type Entry } from '../../kit/overlay.ts'
import { openTable, type Fields } from '../../kit/rows.ts'

export type NoteFields = Fields<'svc_notes'>

export type Note = Entry<'svc_notes'>

export const table = openTable('svc_notes')
export const drafts = makeAutosave(table, 'drafts')

export const searchText = signal('')
export const category = signal('')
/** Key of the open note. */
export const open = signal<string | undefined>(undefined)

const empty: NoteFields = { title: '', content: '', category: null, pinned: false, color: null }

const all = overlayDrafts(table, drafts, empty)

export const categories = computed(() =>
  [...new Set(all.value.map((note) => note.category ?? '').filter((name) => name !== ''))].toSorted((a, b) =>
    a.localeCompare(b),
  ),
)

const search = makeSearch<Note>(({ title, content, category: kind }) => [title, content, kind])

/** Notes of the list: filtered, pinned ones first, then newest first. */
export const notes = computed(() =>
  search(all.value, searchText.value)
    .filter((note) => category.value === '' || note.category === category.value)
    .toSorted((a, b) => Number(b.pinned) - Number(a.pinned) || (a.updated_at < b.updated_at ? 1 : -1)),
)

/** The open note; a new one stays open when it gets its row. */
export const current = computed(() => {
  const key = open.value
  if (key === undefined) return undefined
  const id = drafts.insertedId(key)
  return all.value.find((note) => note.key === key) ?? all.value.find((note) => note.row?.id === id)
})

export const draftOf = (note: Note) => (note.row ? drafts.of(note.row.id) : drafts.all.value.get(note.key))

/** Changes a note; it is saved after a delay. */
export function write(note: Note, fields: Partial<NoteFields>): void {
  drafts.write(note.row, fields, note.row ? undefined : note.key)
}

export function create(): void {
  searchText.value = ''
  open.value = drafts.write(undefined, {
    title: '',
    content: '',
    ...(category.value ? { category: category.value } : {}),
  })
}

/** Deletes a note; returns a function that inserts it as a new row. */
export async function remove(note: Note): Promise<() => Promise<void>> {
  const draft = draftOf(note)
  if (draft) drafts.resolve(draft.key, 'theirs')
  if (note.row) await table.remove(note.row.id)
  if (current.value === undefined) open.value = undefined
  const { title, content, category: kind, pinned, color } = note
  return async () => {
    const id = await table.insert({ title, content, category: kind, pinned, color })
    open.value = `${id}`
  }
}

/** Opens a requested path: `/12` is a row id. */
export function followPath(): void {
  const id = /^\/(\d+)$/.exec(bridge.path.value)?.[1]
  if (id !== undefined) open.value = id
}
