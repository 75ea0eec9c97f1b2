import { computed, signal } from '@preact/signals'
import { openEntries, type Entry } from '../../kit/entries.ts'
import { compareNames } from '../../kit/formats.ts'
import { makeSearch } from '../../kit/overlay.ts'

export type Bookmark = Entry<'svc_bookmarks'>

/** A web address; undefined for other schemes, which are never opened. */
export function webAddress(text: string): URL | undefined {
  const url = URL.parse(text.trim())
  return url && (url.protocol === 'https:' || url.protocol === 'http:') ? url : undefined
}

export const entries = openEntries('svc_bookmarks', {
  blank: { title: '', url: '', folder: null, note: null },
  isComplete: ({ url }) => webAddress(url) !== undefined,
})

export const searchText = signal('')
/** `*` for all, empty for bookmarks without a folder. */
export const folder = signal('*')

export const folders = computed(() => {
  const counts = new Map<string, number>()
  for (const { folder: name } of entries.all.value) counts.set(name ?? '', (counts.get(name ?? '') ?? 0) + 1)
  return [...counts].toSorted(([a], [b]) => compareNames(a, b))
})

export const titleOf = ({ title, url }: Bookmark): string => title || (webAddress(url)?.host ?? url)

const search = makeSearch<Bookmark>(({ title, url, folder: name, note }) => [title, url, name, note])

/** Bookmarks of the list, by title. */
export const bookmarks = computed(() =>
  search(entries.all.value, searchText.value)
    .filter((bookmark) => folder.value === '*' || (bookmark.folder ?? '') === folder.value)
    .toSorted((a, b) => compareNames(titleOf(a), titleOf(b))),
)
