import { computed, signal } from '@preact/signals'
import { openEntries, type Entry } from '../../kit/entries.ts'

export type Doc = Entry<'svc_docs'>

export const entries = openEntries('svc_docs', {
  blank: { title: '', content: '', folder: null, tags: null, archived: false },
  isComplete: ({ title, content }) => title.trim() !== '' || (content ?? '').trim() !== '',
})

export const sought = signal('')

/** What the list shows: `all`, `archive`, `folder:…` or `tag:…`. */
export const chosen = signal('all')

export const tagsOf = ({ tags }: Doc): string[] => tags ?? []

/** What was entered as tags: trimmed, each once. */
export const readTags = (text: string): string[] => [
  ...new Set(
    text
      .split(',')
      .map((tag) => tag.trim())
      .filter(Boolean),
  ),
]

const sorted = (names: Iterable<string>): string[] => [...new Set(names)].toSorted((a, b) => a.localeCompare(b))

const living = computed(() => entries.all.value.filter(({ archived }) => !archived))
export const folders = computed(() => sorted(living.value.flatMap(({ folder }) => (folder ? [folder] : []))))
export const tags = computed(() => sorted(living.value.flatMap(tagsOf)))

function isChosen(doc: Doc): boolean {
  if (chosen.value === 'archive') return doc.archived
  if (doc.archived) return false
  if (chosen.value.startsWith('folder:')) return doc.folder === chosen.value.slice('folder:'.length)
  return chosen.value.startsWith('tag:') ? tagsOf(doc).includes(chosen.value.slice('tag:'.length)) : true
}

/** Documents of the list, the newest first. */
export const docs = computed(() => {
  const words = sought.value.toLowerCase().split(/\s+/)
  return entries.all.value
    .filter(isChosen)
    .filter((doc) => {
      const text = [doc.title, doc.content, doc.folder, ...tagsOf(doc)].join('\n').toLowerCase()
      return words.every((word) => text.includes(word))
    })
    .toSorted((a, b) => b.updated_at.localeCompare(a.updated_at))
})

export function create(): void {
  sought.value = ''
  if (chosen.value === 'archive') chosen.value = 'all'
  const [kind, name] = [chosen.value.split(':')[0], chosen.value.slice(chosen.value.indexOf(':') + 1)]
  entries.create({ ...(kind === 'folder' ? { folder: name } : {}), ...(kind === 'tag' ? { tags: [name] } : {}) })
}
