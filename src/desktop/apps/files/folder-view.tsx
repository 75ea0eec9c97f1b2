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
import { Toolbar } from '../../kit/split.tsx'
import { Empty, Loading } from '../../kit/states.tsx'
import { explain } from '../../kit/trouble.ts'
import { common } from '../../kit/words.ts'
import { Breadcrumbs } from './breadcrumbs.tsx'
import { dropInto } from './dragging.ts'
import { chosen } from './dropped.ts'
import { openItem } from './opened.ts'
import { all, folder, isLoading, items, load, sorting, sought, trouble, view, type SortKey } from './folder.ts'
import { FolderPicker } from './folder-picker.tsx'
import { menuItems, type Acts } from './item-menu.ts'
import { ItemView } from './item-view.tsx'
import { NameDialog } from './name-dialog.tsx'
import { download, isChangeable, remove } from './operations.ts'
import { isWithin, nameOf, ROOMS, takesFiles } from './paths.ts'
import { clear, selected } from './selection.ts'
import { SideButton } from './side.tsx'
import { enqueue } from './uploads.ts'
import { VersionsDialog } from './versions-dialog.tsx'
import { words } from './words.ts'

const sortKeys: readonly SortKey[] = ['name', 'size', 'modified']

function sortBy(key: SortKey): void {
  const { key: before, down } = sorting.peek()
  sorting.value = key === before ? { key, down: !down } : { key, down: key !== 'name' }
}

/** The heads of the columns: a click sorts, another turns it round. */
const Heads = () => (
  <div class="heads" role="group" aria-label={words('sort')}>
    {sortKeys.map((key) => {
      const { key: current, down } = sorting.value
      return (
        <button key={key} type="button" class={key} aria-pressed={key === current} onClick={() => sortBy(key)}>
          {words(key)}
          {key === current && <Icon of={down ? ArrowDown : ArrowUp} size={14} />}
        </button>
      )
    })}
  </div>
)

/** What is selected, and what can be done with it. */
function Selection({ acts }: { acts: Acts }) {
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
      <Menu label={words('more_for_selection')} items={menuItems(acts)}>
        <Icon of={EllipsisVertical} />
      </Menu>
    </div>
  )
}

/** Rules of what lies below `/Teamchat`, said where they hold. */
function Rules() {
  if (!isWithin(folder.value, ROOMS)) return null
  return <p class="rules">{words(folder.value === ROOMS ? 'rules_rooms' : 'rules_room')}</p>
}

function Contents({
  acts,
  renaming,
  onRename,
  onMenu,
}: {
  acts: Acts
  renaming: string | undefined
  onRename: (name: string | undefined) => void
  onMenu: (at: { x: number; y: number }) => void
}) {
  if (trouble.value !== undefined)
    return (
      <Empty icon={FolderOpen} title={explain(trouble.value)}>
        <Button onClick={() => void load()}>{common('retry')}</Button>
      </Empty>
    )
  if (isLoading.value) return <Loading />
  if (items.value.length === 0 && sought.value !== '') return <Empty icon={Search} title={words('none_found')} />
  if (all.value.length === 0 && folder.value === ROOMS)
    return (
      <Empty icon={FolderOpen} title={words('no_rooms')}>
        <p>{words('no_rooms_text')}</p>
      </Empty>
    )
  if (all.value.length === 0)
    return (
      <Empty icon={CloudUpload} title={words('empty_folder')}>
        <p>{words('empty_folder_text')}</p>
      </Empty>
    )
  return (
    <>
      {view.value === 'list' && <Heads />}
      <ItemView renaming={renaming} onRename={onRename} onOpen={acts.open} onMenu={onMenu} />
    </>
  )
}

type Asked =
  | { what: 'new'; kind: 'folder' | 'file' }
  | { what: 'pick'; mode: 'move' | 'copy'; paths: readonly string[] }
  | { what: 'versions'; path: string }

/** A folder: what lies in it, and everything that can be done there. */
export function FolderView() {
  const [renaming, setRenaming] = useState<string | undefined>(undefined)
  const [menuAt, setMenuAt] = useState<{ x: number; y: number } | undefined>(undefined)
  const [asked, setAsked] = useState<Asked | undefined>(undefined)
  const [isOver, setOver] = useState(false)
  const files = useRef<HTMLInputElement>(null)
  const folders = useRef<HTMLInputElement>(null)
  const path = folder.value
  const acts: Acts = {
    open: openItem,
    rename: setRenaming,
    pick: (mode, paths) => setAsked({ what: 'pick', mode, paths }),
    create: (kind) => setAsked({ what: 'new', kind }),
    versions: ({ name }) => setAsked({ what: 'versions', path: path === '/' ? `/${name}` : `${path}/${name}` }),
  }
  useEffect(() => bridge.title(`${nameOf(path) || words('my_files')} – ${words('files')}`), [path])
  useEffect(() => folders.current?.setAttribute('webkitdirectory', ''), [])
  const taking = takesFiles(path)
  const onChosen = ({ currentTarget }: { currentTarget: HTMLInputElement }) => {
    enqueue(path, chosen(currentTarget.files))
    currentTarget.value = ''
  }

  return (
    <div class={`folder ${isOver ? 'over' : ''}`} {...dropInto(path, setOver)}>
      <Toolbar label={words('files')}>
        <SideButton />
        <Breadcrumbs />
        <SearchField
          label={words('search')}
          value={sought.value}
          onInput={({ currentTarget }) => void (sought.value = currentTarget.value)}
        />
        <IconButton
          icon={view.value === 'list' ? LayoutGrid : List}
          label={words(view.value === 'list' ? 'as_grid' : 'as_list')}
          onClick={() => {
            view.value = view.value === 'list' ? 'grid' : 'list'
            bridge.keep('view', view.value)
          }}
        />
        <Menu
          label={words('add')}
          class="button main add"
          items={[
            { label: words('upload'), icon: Upload, disabled: !taking, onSelect: () => files.current?.click() },
            {
              label: words('upload_folder'),
              icon: FolderUp,
              disabled: !taking,
              onSelect: () => folders.current?.click(),
            },
            { label: words('new_folder'), icon: FolderPlus, disabled: !taking, onSelect: () => acts.create('folder') },
            { label: words('new_file'), icon: FilePlus, disabled: !taking, onSelect: () => acts.create('file') },
          ]}
        >
          <Icon of={Plus} />
          <span class="wide-only">{words('add')}</span>
        </Menu>
      </Toolbar>
      <input ref={files} type="file" multiple hidden aria-label={words('upload')} onChange={onChosen} />
      <input ref={folders} type="file" multiple hidden aria-label={words('upload_folder')} onChange={onChosen} />
      <Rules />
      <Contents acts={acts} renaming={renaming} onRename={setRenaming} onMenu={setMenuAt} />
      <Selection acts={acts} />
      {selected.value.length === 0 && all.value.length > 0 && (
        <p class="count">{words('count', items.value.length, formatNumber(items.value.length))}</p>
      )}
      {menuAt && (
        <ContextMenu
          label={words('actions')}
          items={menuItems(acts)}
          at={menuAt}
          onClose={() => setMenuAt(undefined)}
        />
      )}
      {asked?.what === 'new' && (
        <NameDialog what={asked.kind} onClose={() => setAsked(undefined)} onMade={() => undefined} />
      )}
      {asked?.what === 'pick' && (
        <FolderPicker mode={asked.mode} paths={asked.paths} onClose={() => setAsked(undefined)} />
      )}
      {asked?.what === 'versions' && <VersionsDialog path={asked.path} onClose={() => setAsked(undefined)} />}
    </div>
  )
}
