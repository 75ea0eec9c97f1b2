import {
  ClipboardPaste,
  Copy,
  Download,
  Eye,
  FilePlus,
  FolderInput,
  FolderOpen,
  FolderPlus,
  History,
  Pencil,
  Scissors,
  Trash2,
} from 'lucide'
import type { MenuItem } from '../../kit/menu.tsx'
import { common } from '../../kit/words.ts'
import { all, folder, pathOf, type Item } from './folder.ts'
import { clipboard, download, downloadFolder, isChangeable, paste, remove, transfer } from './operations.ts'
import { isFixed, takesFiles } from './paths.ts'
import { selected } from './selection.ts'
import { words } from './words.ts'

/** Actions that need the view. */
export interface ItemActions {
  open: (item: Item) => void
  rename: (name: string) => void
  pick: (mode: 'move' | 'copy', paths: readonly string[]) => void
  create: (what: 'folder' | 'file') => void
  versions: (item: Item) => void
}

function folderItems({ create }: ItemActions): MenuItem[] {
  const disabled = !takesFiles(folder.value)
  return [
    { label: words('new_folder'), icon: FolderPlus, disabled, onSelect: () => create('folder') },
    { label: words('new_file'), icon: FilePlus, disabled, onSelect: () => create('file') },
    {
      label: words('paste'),
      icon: ClipboardPaste,
      disabled: disabled || !clipboard.value,
      onSelect: () => void paste(),
    },
    { label: words('download_folder'), icon: Download, disabled: all.value.length === 0, onSelect: downloadFolder },
  ]
}

/** Menu items for the selection, or for the folder if nothing is selected. */
export function menuItems(actions: ItemActions): MenuItem[] {
  const items = selected.value
  const [item] = items
  if (!item) return folderItems(actions)
  const isOne = items.length === 1
  const paths = items.map(pathOf)
  const canChange = items.every(isChangeable)
  const isCopyable = !paths.some(isFixed)
  const putOnClipboard = (mode: 'move' | 'copy') => () => void (clipboard.value = { mode, paths })
  const one: MenuItem[] = isOne
    ? [
        {
          label: words('open'),
          icon: item.type === 'directory' ? FolderOpen : Eye,
          onSelect: () => actions.open(item),
        },
      ]
    : []
  const file: MenuItem[] =
    isOne && item.type === 'file'
      ? [{ label: words('versions'), icon: History, onSelect: () => actions.versions(item) }]
      : []
  return [
    ...one,
    { label: words('download'), icon: Download, onSelect: () => download(items) },
    ...file,
    ...(isOne
      ? [{ label: words('rename'), icon: Pencil, disabled: !canChange, onSelect: () => actions.rename(item.name) }]
      : []),
    { label: words('move_to'), icon: FolderInput, disabled: !canChange, onSelect: () => actions.pick('move', paths) },
    { label: words('copy_to'), icon: FolderInput, disabled: !isCopyable, onSelect: () => actions.pick('copy', paths) },
    {
      label: words('duplicate'),
      icon: Copy,
      disabled: !isCopyable,
      onSelect: () => void transfer('copy', paths, folder.peek()),
    },
    { label: words('cut'), icon: Scissors, disabled: !canChange, onSelect: putOnClipboard('move') },
    { label: words('copy'), icon: Copy, disabled: !isCopyable, onSelect: putOnClipboard('copy') },
    {
      label: common('delete'),
      icon: Trash2,
      danger: true,
      disabled: !canChange,
      onSelect: () => void remove(items),
    },
  ]
}
