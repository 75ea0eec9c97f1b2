import { Image } from 'lucide'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { printable } from '../../../base/text.ts'
import { describeError } from '../../kit/api-error.ts'
import { bridge } from '../../kit/bridge.ts'
import { Button } from '../../kit/button.tsx'
import { EmptyState, Loading } from '../../kit/empty-state.tsx'
import { formatDateTime, formatDay, formatFullDate, formatNumber } from '../../kit/formats.ts'
import { Toolbar } from '../../kit/split-view.tsx'
import { common } from '../../kit/words.ts'
import { FilePicture } from './file-icon.tsx'
import { onChange } from './folder.ts'
import { openSibling } from './open-file.ts'
import { loadPhotos, photos, photosError, type Photo } from './photos.ts'
import { SidebarButton } from './sidebar.tsx'
import { words } from './words.ts'

/** Pixels. */
const TILE = 128
const HEADING = 44
/** Rendered beyond the visible area, pixels. */
const MARGIN = 400

/** A heading with a date, or a row of photos; `first` is the number of its first photo. */
type Line = { top: number; height: number } & ({ heading: string } | { photos: readonly Photo[]; first: number })

const dayOf = (taken: string): string => {
  const date = new Date(taken)
  return date.getFullYear() === new Date().getFullYear() ? formatDay(date) : formatFullDate(date)
}

function linesOf(all: readonly Photo[], columns: number, tile: number): Line[] {
  const lines: Line[] = []
  let top = 0
  const add = (line: { heading: string } | { photos: readonly Photo[]; first: number }, height: number) => {
    lines.push({ ...line, top, height })
    top += height
  }
  for (let first = 0; first < all.length;) {
    const day = new Date(all[first]!.taken).toDateString()
    let end = first + 1
    while (end < all.length && new Date(all[end]!.taken).toDateString() === day) end++
    add({ heading: dayOf(all[first]!.taken) }, HEADING)
    for (; first < end; first += columns) add({ photos: all.slice(first, Math.min(end, first + columns)), first }, tile)
    first = end
  }
  return lines
}

/** Where the list was, when a photo is closed. */
let lastTop = 0
let lastCursor = 0

function onKey(
  event: KeyboardEvent,
  all: readonly Photo[],
  { columns, page, cursor, moveTo }: { columns: number; page: number; cursor: number; moveTo: (to: number) => void },
): void {
  const to = {
    ArrowRight: cursor + 1,
    ArrowLeft: cursor - 1,
    ArrowDown: cursor + columns,
    ArrowUp: cursor - columns,
    PageDown: cursor + page,
    PageUp: cursor - page,
    Home: 0,
    End: all.length,
  }[event.key]
  if (to !== undefined) moveTo(to)
  else if (event.key === 'Enter' && all[cursor]) openSibling(all[cursor])
  else return
  event.preventDefault()
}

/** The own images of all folders by date. Only the visible ones are rendered. */
export function PhotosView() {
  const frame = useRef<HTMLDivElement>(null)
  const [viewport, setViewport] = useState({ top: lastTop, height: 800, width: 800 })
  const [cursor, setCursor] = useState(lastCursor)
  const all = photos.value
  const columns = Math.max(2, Math.floor(viewport.width / TILE))
  const tile = Math.floor(viewport.width / columns)
  const lines = useMemo(() => linesOf(all ?? [], columns, tile), [all, columns, tile])
  const last = lines.at(-1)
  const visible = lines.filter(
    ({ top, height }) => top + height > viewport.top - MARGIN && top < viewport.top + viewport.height + MARGIN,
  )
  const isCursorVisible = visible.some(
    (line) => 'photos' in line && cursor >= line.first && cursor < line.first + line.photos.length,
  )

  useEffect(() => {
    bridge.setTitle(`${words('photos')} – ${words('files')}`)
    void loadPhotos()
    return onChange(() => void loadPhotos())
  }, [])
  useLayoutEffect(() => {
    const element = frame.current
    if (!element) return
    element.scrollTop = lastTop
    const measure = () =>
      setViewport({ top: element.scrollTop, height: element.clientHeight, width: element.clientWidth })
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [all === undefined || all.length === 0])

  function moveTo(wanted: number): void {
    const to = Math.max(0, Math.min(all!.length - 1, wanted))
    lastCursor = to
    setCursor(to)
    const line = lines.find((one) => 'photos' in one && to >= one.first && to < one.first + one.photos.length)!
    const element = frame.current!
    if (line.top < element.scrollTop) element.scrollTop = line.top - HEADING
    else if (line.top + line.height > element.scrollTop + element.clientHeight)
      element.scrollTop = line.top + line.height - element.clientHeight
  }

  const keys = {
    columns,
    page: columns * Math.max(1, Math.floor(viewport.height / tile)),
    cursor,
    moveTo,
  }

  return (
    <div class="folder">
      <Toolbar label={words('photos')}>
        <SidebarButton />
        <h2 class="name">{words('photos')}</h2>
      </Toolbar>
      {photosError.value !== undefined && !all ? (
        <EmptyState icon={Image} title={describeError(photosError.value)}>
          <Button onClick={() => void loadPhotos()}>{common('retry')}</Button>
        </EmptyState>
      ) : !all ? (
        <Loading />
      ) : all.length === 0 ? (
        <EmptyState icon={Image} title={words('no_photos')}>
          <p>{words('no_photos_text')}</p>
        </EmptyState>
      ) : (
        <>
          <div
            ref={frame}
            class="photos"
            role="listbox"
            aria-label={words('photos')}
            tabIndex={0}
            aria-activedescendant={isCursorVisible ? `photo-${cursor}` : undefined}
            onKeyDown={(event) => onKey(event, all, keys)}
            onScroll={({ currentTarget: { scrollTop } }) => {
              lastTop = scrollTop
              setViewport({ ...viewport, top: scrollTop })
            }}
          >
            <div class="all-photos" role="presentation" style={{ height: `${last ? last.top + last.height : 0}px` }}>
              {visible.map((line) =>
                'heading' in line ? (
                  <div key={`h${line.top}`} class="photo-day" role="presentation" style={{ top: `${line.top}px` }}>
                    {line.heading}
                  </div>
                ) : (
                  line.photos.map((photo, at) => (
                    <div
                      key={photo.path}
                      id={`photo-${line.first + at}`}
                      role="option"
                      class="photo"
                      aria-selected={line.first + at === cursor}
                      aria-setsize={all.length}
                      aria-posinset={line.first + at + 1}
                      aria-label={`${printable(photo.item.name)}, ${formatDateTime(photo.taken)}`}
                      title={printable(photo.item.name)}
                      style={{
                        top: `${line.top}px`,
                        left: `${at * tile}px`,
                        width: `${tile}px`,
                        height: `${tile}px`,
                      }}
                      onClick={() => {
                        lastCursor = line.first + at
                        openSibling(photo)
                      }}
                    >
                      <FilePicture
                        of={photo.item}
                        file={{ ...photo.item, path: photo.path, mime: photo.item.mime ?? '' }}
                        size={36}
                        edge={256}
                      />
                    </div>
                  ))
                ),
              )}
            </div>
          </div>
          <p class="count">{words('count', all.length, formatNumber(all.length))}</p>
        </>
      )}
    </div>
  )
}
