import { computed, effect, signal } from '@preact/signals'
import { bridge } from '../../kit/bridge.ts'
import { makeAutosave } from '../../kit/autosave.ts'
import { keepDeletedRows } from '../../kit/deleted-rows.ts'
import { distinctNames } from '../../kit/formats.ts'
import { makeSearch, overlayDrafts, type Entry } from '../../kit/overlay.ts'
import { openTable, type Fields } from '../../kit/rows.ts'
import { linksByTitle } from '../../kit/title-links.ts'

export type NoteFields = Fields<'svc_notes'>

export type Note = Entry<'svc_notes'>

export const table = openTable('svc_notes')
export const drafts = makeAutosave(table)

export const searchText = signal('')
export const category = signal('')
/** Key of the open note. */
export const open = signal<string | undefined>(undefined)

const empty: NoteFields = { title: '', content: '', category: null, pinned: false, color: null }

const { saved, freshKeys, find } = overlayDrafts(table, drafts, empty)

/** A note with its unsaved changes. */
export const findNote = find

export const categories = computed(() => distinctNames(saved.value.map((note) => note.category)))

const search = makeSearch<Note>(({ title, content, category: kind }) => [title, content, kind])

const savedNotes = computed(() =>
  search(saved.value, searchText.value)
    .filter((note) => category.value === '' || note.category === category.value)
    .toSorted((a, b) => Number(b.pinned) - Number(a.pinned) || (a.updated_at < b.updated_at ? 1 : -1)),
)

/**
 * Keys of the notes of the list: new ones, then pinned ones, then newest first. Typing into a note does not change the
 * list, so the work per key does not grow with the number of notes.
 */
export const keys = computed(() => [
  ...freshKeys.value.split(',').filter(Boolean),
  ...savedNotes.value.map(({ key }) => key),
])

export const current = computed(() => (open.value === undefined ? undefined : find(open.value)))

export const draftOf = (note: Note) => (note.row ? drafts.of(note.row.id) : drafts.all.value.get(note.key))

/** Changes a note; it is saved after a delay. */
export function write(note: Note, fields: Partial<NoteFields>): void {
  drafts.write(note.row, fields, note.row ? undefined : note.key)
}

export function create(title = ''): void {
  searchText.value = ''
  open.value = drafts.write(undefined, {
    title,
    content: '',
    ...(category.value ? { category: category.value } : {}),
  })
}

export const noteLinks = linksByTitle(table, { open: (id) => void (open.value = `${id}`), create })

/** The columns of a note. */
export const fieldsOf = ({ title, content, category: kind, pinned, color }: NoteFields): NoteFields => ({
  title,
  content,
  category: kind,
  pinned,
  color,
})

const removeEntry = keepDeletedRows({ table, drafts, open, fieldsOf })

/** Deletes a note; returns a function that inserts it as a new row. */
export async function remove(note: Note): Promise<() => Promise<void>> {
  const last = find(note.key) ?? note
  await removeEntry(note)
  if (current.value === undefined) open.value = undefined
  return async () => {
    open.value = `${await table.insert(fieldsOf(last))}`
  }
}

effect(() => bridge.setLocation(current.value?.row ? `/${current.value.row.id}` : '/'))

/** Opens a requested path: `/12` is a row id. */
export function followPath(): void {
  const id = /^\/(\d+)$/.exec(bridge.path.value)?.[1]
  if (id !== undefined) open.value = id
}
