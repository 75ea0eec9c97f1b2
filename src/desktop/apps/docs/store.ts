import { computed, signal } from '@preact/signals'
import { openEntries, type Entry } from '../../kit/entries.ts'
import { distinctNames } from '../../kit/formats.ts'
import { makeSearch } from '../../kit/overlay.ts'
import { linksByTitle } from '../../kit/title-links.ts'

export type Doc = Entry<'svc_docs'>

export const entries = openEntries('svc_docs', {
  blank: { title: '', content: '', folder: null, tags: null, archived: false },
  isComplete: ({ title, content }) => title.trim() !== '' || (content ?? '').trim() !== '',
})

export const searchText = signal('')

/** The filter: `all`, `archive`, `folder:…` or `tag:…`. */
export const filter = signal('all')

export const tagsOf = ({ tags }: Doc): string[] => tags ?? []

/** Parses tags: trimmed, without duplicates. */
export const parseTags = (text: string): string[] => [
  ...new Set(
    text
      .split(',')
      .map((tag) => tag.trim())
      .filter(Boolean),
  ),
]

const unarchived = computed(() => entries.all.value.filter(({ archived }) => !archived))
export const folders = computed(() => distinctNames(unarchived.value.map(({ folder }) => folder)))
export const tags = computed(() => distinctNames(unarchived.value.flatMap(tagsOf)))

function matchesFilter(doc: Doc): boolean {
  if (filter.value === 'archive') return doc.archived
  if (doc.archived) return false
  if (filter.value.startsWith('folder:')) return doc.folder === filter.value.slice('folder:'.length)
  return filter.value.startsWith('tag:') ? tagsOf(doc).includes(filter.value.slice('tag:'.length)) : true
}

const search = makeSearch<Doc>((doc) => [doc.title, doc.content, doc.folder, ...tagsOf(doc)])

/** Documents of the list, newest first. */
export const docs = computed(() =>
  search(entries.all.value, searchText.value)
    .filter(matchesFilter)
    .toSorted((a, b) => (a.updated_at < b.updated_at ? 1 : -1)),
)

export function create(title = ''): void {
  searchText.value = ''
  if (filter.value === 'archive') filter.value = 'all'
  const [kind, name] = [filter.value.split(':')[0], filter.value.slice(filter.value.indexOf(':') + 1)]
  entries.create({
    title,
    ...(kind === 'folder' ? { folder: name } : {}),
    ...(kind === 'tag' ? { tags: [name] } : {}),
  })
}

export const docLinks = linksByTitle(entries.table, { open: (id) => void (entries.open.value = `${id}`), create })
