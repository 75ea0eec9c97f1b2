import { computed, signal } from '@preact/signals'
import { folder, items, type Item } from './folder.ts'

const names = signal<ReadonlySet<string>>(new Set())
/** Name of the focused item. */
export const cursor = signal<string | undefined>(undefined)
let anchor: string | undefined
/** Whether the user selected something, rather than the app what it has just created, moved or restored. */
let isByUser = false

/** Selected items among the visible ones. */
export const selected = computed<readonly Item[]>(() => items.value.filter(({ name }) => names.value.has(name)))

/** Whether another tap adds to the selection. */
export const isSelecting = (): boolean => isByUser && selected.value.length > 0

export const isSelected = (name: string): boolean => names.value.has(name)

export function clear(): void {
  names.value = new Set()
}

export function selectAll(): void {
  isByUser = true
  names.value = new Set(items.value.map(({ name }) => name))
}

export function selectOnly(name: string): void {
  isByUser = true
  names.value = new Set([name])
  cursor.value = name
  anchor = name
}

/** Selects what an operation has changed. */
export function selectNames(some: Iterable<string>): void {
  isByUser = false
  names.value = new Set(some)
  cursor.value = [...some][0]
  anchor = cursor.value
}

export function toggle(name: string): void {
  isByUser = true
  const next = new Set(names.value)
  if (!next.delete(name)) next.add(name)
  names.value = next
  cursor.value = name
  anchor = name
}

/** Selects the range from the anchor to an item. */
export function extendTo(name: string): void {
  isByUser = true
  const shown = items.value
  const from = Math.max(
    0,
    shown.findIndex((item) => item.name === (anchor ?? cursor.value)),
  )
  const to = shown.findIndex((item) => item.name === name)
  const [first, last] = from < to ? [from, to] : [to, from]
  names.value = new Set(shown.slice(first, last + 1).map((item) => item.name))
  cursor.value = name
}

folder.subscribe(() => {
  clear()
  cursor.value = undefined
  anchor = undefined
})
