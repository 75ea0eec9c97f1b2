import { computed, signal } from '@preact/signals'
import { openEntries, type Entry } from '../../kit/entries.ts'
import { compareNames } from '../../kit/formats.ts'
import { makeSearch } from '../../kit/overlay.ts'

export type Place = Entry<'svc_places'>

export const entries = openEntries('svc_places', {
  blank: { name: '', latitude: 0, longitude: 0, address: null, category: null, note: null, visited_on: null },
  isComplete: ({ name }) => name.trim() !== '',
})

export const searchText = signal('')

const search = makeSearch<Place>(({ name, address, category, note }) => [name, address, category, note])

export const places = computed(() =>
  search(entries.all.value, searchText.value).toSorted((a, b) => compareNames(a.name, b.name)),
)
