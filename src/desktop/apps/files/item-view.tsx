import { printable } from '../../../base/text.ts'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { formatSize, formatWhen } from '../../kit/formats.ts'
import { startDrag, dropTarget } from './item-drag.ts'
import { folder, items, pathOf, view, type Item } from './folder.ts'
import { FilePicture } from './file-icon.tsx'
import { clipboard } from './operations.ts'
import { RenameField } from './rename-field.tsx'
import { cursor, extendTo, isSelected, isSelecting, selectOnly, toggle } from './selection.ts'
import { onKey } from './shortcuts.ts'
import { words } from './words.ts'

/** Rows rendered beyond the visible ones. */
const OVERSCAN = 6
/** Rows scrolled between two renderings. */
const STRIDE = 4
/** Pixels. */
const ROW_HEIGHT = 44
const TALL_ROW_HEIGHT = 56
const TILE = { width: 136, height: 156 }
const NARROW = 560

interface Layout {
  columns: number
  rowHeight: number
  width: number
}

export interface ItemViewProps {
  renaming: string | undefined
  onRename: (name: string | undefined) => void
  onOpen: (item: Item) => void
  onMenu: (at: { x: number; y: number }) => void
}

/** Touch opens with one tap and selects on the icon, but not on a large picture; a mouse click selects. */
function onClick(event: MouseEvent, item: Item, onOpen: (item: Item) => void): void {
  const isTouch = event instanceof PointerEvent && event.pointerType === 'touch'
  if (isTouch) {
    const isPicture =
      event.target instanceof Element &&
      event.target.closest('.picture, .grid .thumbnail')?.matches('.picture') === true
    if (isSelecting()) toggle(item.name)
    else if (isPicture) selectOnly(item.name)
    else onOpen(item)
  } else if (event.shiftKey) extendTo(item.name)
  else if (event.ctrlKey || event.metaKey) toggle(item.name)
  else selectOnly(item.name)
}

const ItemDetails = ({ item }: { item: Item }) => (
  <>
    <span class="size">{item.size === undefined ? '' : formatSize(item.size)}</span>
    <time dateTime={item.modified}>{formatWhen(item.modified)}</time>
  </>
)

function Entry({ item, at, layout, props }: { item: Item; at: number; layout: Layout; props: ItemViewProps }) {
  const { columns, rowHeight, width } = layout
  const path = pathOf(item)
  const [isOver, setOver] = useState(false)
  const isCut = clipboard.value?.mode === 'move' && clipboard.value.paths.includes(path)
  const wide = width / columns
  const isGrid = view.value === 'grid'
  return (
    <div
      id={`item-${at}`}
      role="option"
      aria-selected={isSelected(item.name)}
      aria-setsize={items.value.length}
      aria-posinset={at + 1}
      class={`item ${isOver ? 'over' : ''} ${isCut ? 'cut' : ''} ${cursor.value === item.name ? 'at' : ''}`}
      style={{
        height: `${rowHeight}px`,
        left: `${(at % columns) * wide}px`,
        top: `${Math.floor(at / columns) * rowHeight}px`,
        width: `${wide}px`,
      }}
      draggable={props.renaming === undefined}
      onDragStart={(event) => startDrag(event, item)}
      {...(item.type === 'directory' ? dropTarget(path, setOver) : {})}
      onClick={(event) => onClick(event, item, props.onOpen)}
      onDblClick={() => props.onOpen(item)}
      onContextMenu={(event) => {
        event.preventDefault()
        event.stopPropagation()
        if (!isSelected(item.name)) selectOnly(item.name)
        props.onMenu({ x: event.clientX, y: event.clientY })
      }}
    >
      <FilePicture
        of={item}
        file={{ ...item, path, mime: item.mime ?? '' }}
        size={isGrid ? 44 : 22}
        edge={isGrid || devicePixelRatio > 2 ? 256 : 128}
      />
      <span class="name" title={printable(item.name)}>
        {printable(item.name)}
      </span>
      {item.type === 'directory' && <span class="unseen">{words('folder')}</span>}
      <ItemDetails item={item} />
    </div>
  )
}

/** Items as a list or grid. Only the visible ones are rendered. */
export function ItemView(props: ItemViewProps) {
  const frame = useRef<HTMLDivElement>(null)
  const [viewport, setViewport] = useState({ top: 0, height: 800, width: 800 })
  const shown = items.value
  const isGrid = view.value === 'grid'
  const layout: Layout = isGrid
    ? { columns: Math.max(1, Math.floor(viewport.width / TILE.width)), rowHeight: TILE.height, width: viewport.width }
    : { columns: 1, rowHeight: viewport.width < NARROW ? TALL_ROW_HEIGHT : ROW_HEIGHT, width: viewport.width }
  const { columns, rowHeight } = layout

  useLayoutEffect(() => {
    const element = frame.current!
    const measure = () =>
      setViewport({ top: element.scrollTop, height: element.clientHeight, width: element.clientWidth })
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  useLayoutEffect(() => void (frame.current!.scrollTop = 0), [folder.value])

  const first = Math.max(0, Math.floor(viewport.top / rowHeight) - OVERSCAN) * columns
  const last = Math.min(
    shown.length,
    (Math.ceil((viewport.top + viewport.height) / rowHeight) + STRIDE + OVERSCAN) * columns,
  )
  const at = shown.findIndex(({ name }) => name === cursor.value)
  const renamed = shown.findIndex(({ name }) => name === props.renaming)

  useLayoutEffect(() => {
    if (at < 0) return
    const top = Math.floor(at / columns) * rowHeight
    const element = frame.current!
    if (top < element.scrollTop) element.scrollTop = top
    else if (top + rowHeight > element.scrollTop + element.clientHeight)
      element.scrollTop = top + rowHeight - element.clientHeight
  }, [at, columns, rowHeight])

  return (
    <div
      ref={frame}
      class={`items ${isGrid ? 'grid' : viewport.width < NARROW ? 'list tall' : 'list'}`}
      onScroll={({ currentTarget: { scrollTop } }) => {
        const top = scrollTop - (scrollTop % (STRIDE * rowHeight))
        if (top !== viewport.top) setViewport({ ...viewport, top })
      }}
      onContextMenu={(event) => {
        event.preventDefault()
        props.onMenu({ x: event.clientX, y: event.clientY })
      }}
    >
      <div
        class="all-items"
        role="listbox"
        aria-multiselectable="true"
        aria-label={words('contents')}
        tabIndex={0}
        aria-activedescendant={at >= first && at < last ? `item-${at}` : undefined}
        style={{ height: `${Math.ceil(shown.length / columns) * rowHeight}px` }}
        onKeyDown={(event) => {
          const page = Math.max(1, Math.floor(viewport.height / rowHeight) - 1)
          onKey(event, { columns, page, onOpen: props.onOpen, onRename: props.onRename, onMenu: () => openMenu() })
        }}
      >
        {shown.slice(first, last).map((item, offset) => (
          <Entry key={item.name} item={item} at={first + offset} layout={layout} props={props} />
        ))}
      </div>
      {renamed >= 0 && (
        <RenameField
          key={props.renaming}
          item={shown[renamed]!}
          place={{
            left: `${(renamed % columns) * (viewport.width / columns) + (isGrid ? 4 : 56)}px`,
            top: `${Math.floor(renamed / columns) * rowHeight + (isGrid ? 92 : (rowHeight - 36) / 2)}px`,
            width: `${viewport.width / columns - (isGrid ? 8 : 64)}px`,
          }}
          onDone={() => {
            props.onRename(undefined)
            frame.current?.querySelector<HTMLElement>('[role=listbox]')?.focus()
          }}
        />
      )}
    </div>
  )

  function openMenu(): void {
    const place = frame.current!.querySelector(`#item-${at}`)?.getBoundingClientRect()
    const own = frame.current!.getBoundingClientRect()
    props.onMenu({ x: (place?.left ?? own.left) + 60, y: place?.bottom ?? own.top + 40 })
  }
}
