import { computed, signal } from '@preact/signals'
import { openEntries, type Entry } from '../../kit/entries.ts'
import { makeSearch } from '../../kit/overlay.ts'

export type Place = Entry<'svc_places'>

export const entries = openEntries('svc_places', {
  blank: { name: '', latitude: 0, longitude: 0, address: null, category: null, note: null, visited_on: null },
  isComplete: ({ name }) => name.trim() !== '',
})

export const searchText = signal('')

const search = makeSearch<Place>(({ name, address, category, note }) => [name, address, category, note])
const { compare } = new Intl.Collator()

export const places = computed(() =>
  search(entries.all.value, searchText.value).toSorted((a, b) => compare(a.name, b.name)),
)
