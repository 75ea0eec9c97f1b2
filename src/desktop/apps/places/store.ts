import { computed, signal } from '@preact/signals'
import { openEntries, type Entry } from '../../kit/entries.ts'

export type Place = Entry<'svc_places'>

export const entries = openEntries('svc_places', {
  blank: { name: '', latitude: 0, longitude: 0, address: null, category: null, note: null, visited_on: null },
  isComplete: ({ name }) => name.trim() !== '',
})

export const sought = signal('')

/** Places of the list, by name. */
export const places = computed(() => {
  const words = sought.value.toLowerCase().split(/\s+/)
  return entries.all.value
    .filter(({ name, address, category, note }) => {
      const text = [name, address, category, note].join('\n').toLowerCase()
      return words.every((word) => text.includes(word))
    })
    .toSorted((a, b) => a.name.localeCompare(b.name))
})
