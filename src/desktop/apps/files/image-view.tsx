import { signal } from '@preact/signals'
import { Expand, Pause, Play, Scan, Shrink, ZoomIn, ZoomOut } from 'lucide'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { IconButton } from '../../kit/button.tsx'
import { useKeys } from '../../kit/keys.ts'
import { kindOf } from './file-kinds.ts'
import { fileOrder, openSibling, type OpenFile } from './open-file.ts'
import { words } from './words.ts'

/** Magnifications beside the whole picture in the window. */
const ZOOMS = [0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8] as const
/** Time of a picture in the slide show, ms. */
const SLIDE_MS = 5_000

/** Whether the slide show runs: it goes on from picture to picture. */
const isPlaying = signal(false)
const isFull = signal(false)

addEventListener('fullscreenchange', () => {
  isFull.value = document.fullscreenElement !== null
  if (!isFull.value) isPlaying.value = false
})

const toggleFull = (): void =>
  void (isFull.peek() ? document.exitFullscreen() : document.documentElement.requestFullscreen()).catch(() => undefined)

/** Ends what covers the desktop when the picture is closed. */
export function leaveShow(): void {
  isPlaying.value = false
  if (isFull.peek()) toggleFull()
}

/** The image after one in the order of what is shown; after the last, the first. */
function nextImage(path: string): OpenFile | undefined {
  const images = fileOrder.peek().filter(({ item }) => kindOf(item) === 'image')
  return images[(images.findIndex((one) => one.path === path) + 1) % images.length]
}

/** A picture with zoom, full screen and a slide show. */
export function ImageView({
  url,
  path,
  alt,
  onError,
}: {
  url: string
  path: string
  alt: string
  onError: () => void
}) {
  const frame = useRef<HTMLDivElement>(null)
  const image = useRef<HTMLImageElement>(null)
  /** Undefined while the whole picture is shown. */
  const [zoom, setZoom] = useState<number | undefined>(undefined)
  const [width, setWidth] = useState(0)
  const playing = isPlaying.value

  /** The magnification of the picture as it is. */
  const current = () => zoom ?? (image.current!.naturalWidth ? image.current!.width / image.current!.naturalWidth : 1)
  const step = (by: 1 | -1) => {
    const now = current() * (1 + by * 0.01)
    const next = by > 0 ? ZOOMS.find((one) => one > now) : ZOOMS.findLast((one) => one < now)
    if (next !== undefined) setZoom(next)
  }

  useEffect(() => {
    if (!playing) return
    const timer = setTimeout(() => {
      const next = nextImage(path)
      if (next && next.path !== path) openSibling(next)
    }, SLIDE_MS)
    return () => clearTimeout(timer)
  }, [playing, url])

  useKeys((event) => {
    const { key, target } = event
    const isElsewhere = target instanceof Element && target.closest('dialog, input, textarea, .menu') !== null
    if (event.defaultPrevented || isElsewhere || event.altKey || event.ctrlKey || event.metaKey) return
    const isButton = target instanceof Element && target.closest('button') !== null
    if (key === '+' || key === '=') step(1)
    else if (key === '-') step(-1)
    else if (key === '0') setZoom(undefined)
    else if (key === '1') setZoom(1)
    else if (key === 'f') toggleFull()
    else if (key === 's' || (key === ' ' && !isButton)) isPlaying.value = !isPlaying.peek()
    else if (zoom !== undefined && key.startsWith('Arrow')) {
      const far = 80
      frame.current!.scrollBy({
        left: key === 'ArrowLeft' ? -far : key === 'ArrowRight' ? far : 0,
        top: key === 'ArrowUp' ? -far : key === 'ArrowDown' ? far : 0,
      })
    } else return
    event.preventDefault()
  })

  // The middle of the picture stays in the middle.
  useLayoutEffect(() => {
    const { scrollWidth, clientWidth, scrollHeight, clientHeight } = frame.current!
    frame.current!.scrollTo((scrollWidth - clientWidth) / 2, (scrollHeight - clientHeight) / 2)
  }, [zoom, width])

  return (
    <div class={`viewer ${isFull.value ? 'full' : ''}`}>
      <div
        ref={frame}
        class={`shown image ${zoom === undefined ? '' : 'zoomed'}`}
        role="group"
        aria-label={alt}
        tabIndex={0}
        onDblClick={() => setZoom(zoom === undefined ? 1 : undefined)}
        onWheel={(event) => {
          if (!event.ctrlKey) return
          event.preventDefault()
          step(event.deltaY < 0 ? 1 : -1)
        }}
      >
        <img
          ref={image}
          src={url}
          alt={alt}
          draggable={false}
          onLoad={({ currentTarget }) => setWidth(currentTarget.naturalWidth)}
          onError={onError}
          style={zoom === undefined || width === 0 ? {} : { width: `${width * zoom}px` }}
        />
      </div>
      <div class="viewer-bar" role="toolbar" aria-label={words('view')}>
        <IconButton icon={ZoomOut} label={words('zoom_out')} onClick={() => step(-1)} />
        <span class="zoom" role="status">
          {zoom === undefined ? words('fit') : `${Math.round(zoom * 100)} %`}
        </span>
        <IconButton icon={ZoomIn} label={words('zoom_in')} onClick={() => step(1)} />
        <IconButton
          icon={Scan}
          label={words('whole')}
          disabled={zoom === undefined}
          onClick={() => setZoom(undefined)}
        />
        <IconButton
          icon={playing ? Pause : Play}
          label={words(playing ? 'stop_show' : 'start_show')}
          onClick={() => void (isPlaying.value = !playing)}
        />
        {document.fullscreenEnabled && (
          <IconButton
            icon={isFull.value ? Shrink : Expand}
            label={words(isFull.value ? 'leave_full' : 'full_screen')}
            onClick={toggleFull}
          />
        )}
      </div>
    </div>
  )
}
