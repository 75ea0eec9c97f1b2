import { folder, openFolder, items, pathOf, type Item } from './folder.ts'
import { clipboard, isChangeable, paste, remove } from './operations.ts'
import { parentOf } from './paths.ts'
import { clear, cursor, extendTo, selectOnly, selectAll, selected, toggle } from './selection.ts'

interface KeyContext {
  columns: number
  /** Rows per page. */
  page: number
  onOpen: (item: Item) => void
  onRename: (name: string) => void
  onMenu: () => void
}

/** Letters typed in quick succession, for finding a name. */
let typed = ''
let typedAt = 0

function find(letter: string, at: number, time: number): void {
  typed = time - typedAt < 800 ? typed + letter : letter
  typedAt = time
  const shown = items.peek()
  const from = typed.length === 1 ? at + 1 : Math.max(0, at)
  const found = [...shown.slice(from), ...shown.slice(0, from)].find(({ name }) => name.toLowerCase().startsWith(typed))
  if (found) selectOnly(found.name)
}

function withControl(key: string): boolean {
  const paths = selected.peek().map(pathOf)
  switch (key.toLowerCase()) {
    case 'a':
      selectAll()
      return true
    case 'c':
    case 'x':
      if (paths.length > 0) clipboard.value = { mode: key.toLowerCase() === 'c' ? 'copy' : 'move', paths }
      return true
    case 'v':
      void paste()
      return true
    case ' ':
      if (cursor.peek() !== undefined) toggle(cursor.peek()!)
      return true
    default:
      return false
  }
}

function act(event: KeyboardEvent, { onOpen, onRename, onMenu }: KeyContext, item: Item | undefined): boolean {
  const { key, altKey, shiftKey } = event
  if (key === 'Enter' && item) onOpen(item)
  else if (key === 'Delete') {
    const some = selected.peek().filter(isChangeable)
    if (some.length > 0) void remove(some)
  } else if (key === 'F2' && item && isChangeable(item)) onRename(item.name)
  else if (key === 'Escape') clear()
  else if (key === 'Backspace' || (altKey && key === 'ArrowUp')) openFolder(parentOf(folder.peek()))
  else if (key === 'ContextMenu' || (shiftKey && key === 'F10')) onMenu()
  else if (key === ' ' && item) toggle(item.name)
  else return false
  return true
}

/** Keys of the list: arrows, Home, End, Page Up and Page Down move, with Shift they select; letters find a name. */
export function onKey(event: KeyboardEvent, context: KeyContext): void {
  const shown = items.peek()
  const at = shown.findIndex(({ name }) => name === cursor.peek())
  const { columns, page } = context
  const steps: Record<string, number> = {
    ArrowDown: at < 0 ? 0 : at + columns,
    ArrowUp: at - columns,
    PageDown: at + page * columns,
    PageUp: at - page * columns,
    Home: 0,
    End: shown.length - 1,
    ...(columns > 1 ? { ArrowRight: at + 1, ArrowLeft: at - 1 } : {}),
  }
  const control = event.ctrlKey || event.metaKey
  const to = event.altKey ? undefined : steps[event.key]
  if (to !== undefined) {
    const item = shown[Math.max(0, Math.min(shown.length - 1, to))]
    if (item) {
      if (event.shiftKey) extendTo(item.name)
      else if (control) cursor.value = item.name
      else selectOnly(item.name)
    }
  } else if (control && !event.altKey) {
    if (!withControl(event.key)) return
  } else if (!act(event, context, shown[at])) {
    if (event.key.length !== 1 || event.altKey) return
    find(event.key.toLowerCase(), at, event.timeStamp)
  }
  event.preventDefault()
}
