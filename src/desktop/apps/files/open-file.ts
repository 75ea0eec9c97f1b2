import { computed, signal } from '@preact/signals'
import { folder, openFolder, items, pathOf, place, type Item } from './folder.ts'
import { photos } from './photos.ts'
import { clear, cursor } from './selection.ts'

export interface OpenFile {
  path: string
  item: Item
}

/** The open file, shown instead of its folder. */
export const openFile = signal<OpenFile | undefined>(undefined)

export function openItem(item: Item): void {
  if (item.type === 'directory') openFolder(pathOf(item))
  else {
    // Clear the selection, so that the next tap on a phone opens again.
    clear()
    cursor.value = item.name
    openFile.value = { path: pathOf(item), item }
  }
}

/** The files in the order of what is shown: photos, or the folder. */
export const fileOrder = computed<readonly OpenFile[]>(() =>
  place.value === 'photos'
    ? (photos.value ?? [])
    : items.value.filter(({ type }) => type === 'file').map((item) => ({ path: pathOf(item), item })),
)

/** The next or previous file. */
export function siblingOf(path: string, step: 1 | -1): OpenFile | undefined {
  const at = fileOrder.value.findIndex((one) => one.path === path)
  return at < 0 ? undefined : fileOrder.value[at + step]
}

/** Opens another file of that order. */
export function openSibling(file: OpenFile): void {
  if (place.peek() === 'folder') openItem(file.item)
  else openFile.value = file
}

folder.subscribe(() => void (openFile.value = undefined))
