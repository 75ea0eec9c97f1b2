import {
  ArrowDown,
  ArrowUp,
  CloudUpload,
  Download,
  EllipsisVertical,
  FilePlus,
  FolderOpen,
  FolderPlus,
  FolderUp,
  LayoutGrid,
  List,
  Plus,
  Search,
  Trash2,
  Upload,
  X,
} from 'lucide'
import { useEffect, useRef, useState } from 'preact/hooks'
import { bridge } from '../../kit/bridge.ts'
import { Button, IconButton } from '../../kit/button.tsx'
import { SearchField } from '../../kit/field.tsx'
import { formatNumber, formatSize } from '../../kit/formats.ts'
import { Icon } from '../../kit/icon.tsx'
import { ContextMenu, Menu } from '../../kit/menu.tsx'
import { Toolbar } from '../../kit/split-view.tsx'
import { EmptyState, Loading } from '../../kit/empty-state.tsx'
import { describeError } from '../../kit/api-error.ts'
import { common } from '../../kit/words.ts'
import { Breadcrumbs } from './breadcrumbs.tsx'
import { dropTarget } from './item-drag.ts'
import { readChosen } from './dropped-files.ts'
import { openItem } from './open-file.ts'
import { all, folder, isLoading, items, load, sorting, searchText, loadError, view, type SortKey } from './folder.ts'
import { FolderPicker } from './folder-picker.tsx'
import { menuItems, type ItemActions } from './item-menu.ts'
import { ItemView } from './item-view.tsx'
import { NameDialog } from './name-dialog.tsx'
import { download, isChangeable, remove } from './operations.ts'
import { isWithin, nameOf, ROOMS, takesFiles } from './paths.ts'
import { clear, selected } from './selection.ts'
import { SidebarButton } from './sidebar.tsx'
import { enqueue } from './uploads.ts'
import { VersionsDialog } from './versions-dialog.tsx'
import { words } from './words.ts'

const sortKeys: readonly SortKey[] = ['name', 'size', 'modified']

function sortBy(key: SortKey): void {
  const { key: before, isDescending } = sorting.peek()
  sorting.value = key === before ? { key, isDescending: !isDescending } : { key, isDescending: key !== 'name' }
}

/** Column headers: a click sorts, a second one reverses the order. */
const ColumnHeaders = () => (
  <div class="heads" role="group" aria-label={words('sort')}>
    {sortKeys.map((key) => {
      const { key: current, isDescending } = sorting.value
      return (
        <button key={key} type="button" class={key} aria-pressed={key === current} onClick={() => sortBy(key)}>
          {words(key)}
          {key === current && <Icon of={isDescending ? ArrowDown : ArrowUp} size={14} />}
        </button>
      )
    })}
  </div>
)

function Selection({ actions }: { actions: ItemActions }) {
  const some = selected.value
  if (some.length === 0) return null
  const size = some.reduce((sum, item) => sum + (item.size ?? 0), 0)
  return (
    <div class="chosen" role="toolbar" aria-label={words('selection')}>
      <IconButton icon={X} label={words('clear')} onClick={clear} />
      <span class="name" role="status">
        {words('selected', some.length)}
        {size > 0 && ` · ${formatSize(size)}`}
      </span>
      <IconButton icon={Download} label={words('download')} onClick={() => download(some)} />
      <IconButton
        icon={Trash2}
        label={common('delete')}
        disabled={!some.every(isChangeable)}
        onClick={() => void remove(some)}
      />
      <Menu label={words('more_for_selection')} items={menuItems(actions)}>
        <Icon of={EllipsisVertical} />
      </Menu>
    </div>
  )
}

/** Explains the rules of `/Teamchat`. */
function Rules() {
  if (!isWithin(folder.value, ROOMS)) return null
  return <p class="rules">{words(folder.value === ROOMS ? 'rules_rooms' : 'rules_room')}</p>
}

function Contents({
  actions,
  renaming,
  onRename,
  onMenu,
}: {
  actions: ItemActions
  renaming: string | undefined
  onRename: (name: string | undefined) => void
  onMenu: (at: { x: number; y: number }) => void
}) {
  if (loadError.value !== undefined)
    return (
      <EmptyState icon={FolderOpen} title={describeError(loadError.value)}>
        <Button onClick={() => void load()}>{common('retry')}</Button>
      </EmptyState>
    )
  if (isLoading.value) return <Loading />
  if (items.value.length === 0 && searchText.value !== '')
    return <EmptyState icon={Search} title={words('none_found')} />
  if (all.value.length === 0 && folder.value === ROOMS)
    return (
      <EmptyState icon={FolderOpen} title={words('no_rooms')}>
        <p>{words('no_rooms_text')}</p>
      </EmptyState>
    )
  if (all.value.length === 0)
    return (
      <EmptyState icon={CloudUpload} title={words('empty_folder')}>
        <p>{words('empty_folder_text')}</p>
      </EmptyState>
    )
  return (
    <>
      {view.value === 'list' && <ColumnHeaders />}
      <ItemView renaming={renaming} onRename={onRename} onOpen={actions.open} onMenu={onMenu} />
    </>
  )
}

type OpenDialog =
  | { what: 'new'; kind: 'folder' | 'file' }
  | { what: 'pick'; mode: 'move' | 'copy'; paths: readonly string[] }
  | { what: 'versions'; path: string }

export function FolderView() {
  const [renaming, setRenaming] = useState<string | undefined>(undefined)
  const [menuAt, setMenuAt] = useState<{ x: number; y: number } | undefined>(undefined)
  const [dialog, setDialog] = useState<OpenDialog | undefined>(undefined)
  const [isOver, setOver] = useState(false)
  const files = useRef<HTMLInputElement>(null)
  const folders = useRef<HTMLInputElement>(null)
  const path = folder.value
  const actions: ItemActions = {
    open: openItem,
    rename: setRenaming,
    pick: (mode, paths) => setDialog({ what: 'pick', mode, paths }),
    create: (kind) => setDialog({ what: 'new', kind }),
    versions: ({ name }) => setDialog({ what: 'versions', path: path === '/' ? `/${name}` : `${path}/${name}` }),
  }
  useEffect(() => bridge.setTitle(`${nameOf(path) || words('my_files')} – ${words('files')}`), [path])
  useEffect(() => folders.current?.setAttribute('webkitdirectory', ''), [])
  const canUpload = takesFiles(path)
  const onChosen = ({ currentTarget }: { currentTarget: HTMLInputElement }) => {
    enqueue(path, readChosen(currentTarget.files))
    currentTarget.value = ''
  }

  return (
    <div class={`folder ${isOver ? 'over' : ''}`} {...dropTarget(path, setOver)}>
      <Toolbar label={words('files')}>
        <SidebarButton />
        <Breadcrumbs />
        <SearchField label={words('search')} of={searchText} />
        <IconButton
          icon={view.value === 'list' ? LayoutGrid : List}
          label={words(view.value === 'list' ? 'as_grid' : 'as_list')}
          onClick={() => {
            view.value = view.value === 'list' ? 'grid' : 'list'
            bridge.setItem('view', view.value)
          }}
        />
        <Menu
          label={words('add')}
          class="button main add"
          items={[
            { label: words('upload'), icon: Upload, disabled: !canUpload, onSelect: () => files.current?.click() },
            {
              label: words('upload_folder'),
              icon: FolderUp,
              disabled: !canUpload,
              onSelect: () => folders.current?.click(),
            },
            {
              label: words('new_folder'),
              icon: FolderPlus,
              disabled: !canUpload,
              onSelect: () => actions.create('folder'),
            },
            { label: words('new_file'), icon: FilePlus, disabled: !canUpload, onSelect: () => actions.create('file') },
          ]}
        >
          <Icon of={Plus} />
          <span class="wide-only">{words('add')}</span>
        </Menu>
      </Toolbar>
      <input ref={files} type="file" multiple hidden aria-label={words('upload')} onChange={onChosen} />
      <input ref={folders} type="file" multiple hidden aria-label={words('upload_folder')} onChange={onChosen} />
      <Rules />
      <Contents actions={actions} renaming={renaming} onRename={setRenaming} onMenu={setMenuAt} />
      <Selection actions={actions} />
      {selected.value.length === 0 && all.value.length > 0 && (
        <p class="count">{words('count', items.value.length, formatNumber(items.value.length))}</p>
      )}
      {menuAt && (
        <ContextMenu
          label={words('actions')}
          items={menuItems(actions)}
          at={menuAt}
          onClose={() => setMenuAt(undefined)}
        />
      )}
      {dialog?.what === 'new' && (
        <NameDialog what={dialog.kind} onClose={() => setDialog(undefined)} onMade={() => undefined} />
      )}
      {dialog?.what === 'pick' && (
        <FolderPicker mode={dialog.mode} paths={dialog.paths} onClose={() => setDialog(undefined)} />
      )}
      {dialog?.what === 'versions' && <VersionsDialog path={dialog.path} onClose={() => setDialog(undefined)} />}
    </div>
  )
}
