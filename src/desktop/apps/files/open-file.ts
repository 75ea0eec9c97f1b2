import { signal } from '@preact/signals'
import { folder, openFolder, items, pathOf, type Item } from './folder.ts'
import { clear, cursor } from './selection.ts'

/** The file that is looked at, instead of its folder. */
export const openFile = signal<{ path: string; item: Item } | undefined>(undefined)

/** Opens an item: a folder is gone into, a file is shown. */
export function openItem(item: Item): void {
  if (item.type === 'directory') openFolder(pathOf(item))
  else {
    // Nothing stays selected: on a phone the next tap is to open again.
    clear()
    cursor.value = item.name
    openFile.value = { path: pathOf(item), item }
  }
}

/** The file some steps before or after the one that is shown, in the order of its folder. */
export function siblingOf(name: string, step: 1 | -1): Item | undefined {
  const files = items.value.filter(({ type }) => type === 'file')
  const at = files.findIndex((item) => item.name === name)
  return at < 0 ? undefined : files[at + step]
}

folder.subscribe(() => void (openFile.value = undefined))
