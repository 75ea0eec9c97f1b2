import { signal } from '@preact/signals'
import { folder, openFolder, items, pathOf, type Item } from './folder.ts'
import { clear, cursor } from './selection.ts'

/** The open file, shown instead of its folder. */
export const openFile = signal<{ path: string; item: Item } | undefined>(undefined)

export function openItem(item: Item): void {
  if (item.type === 'directory') openFolder(pathOf(item))
  else {
    // Clear the selection, so that the next tap on a phone opens again.
    clear()
    cursor.value = item.name
    openFile.value = { path: pathOf(item), item }
  }
}

/** The next or previous file in the order of the folder. */
export function siblingOf(name: string, step: 1 | -1): Item | undefined {
  const files = items.value.filter(({ type }) => type === 'file')
  const at = files.findIndex((item) => item.name === name)
  return at < 0 ? undefined : files[at + step]
}

folder.subscribe(() => void (openFile.value = undefined))
