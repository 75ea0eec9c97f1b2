import { useComputed, useSignal } from '@preact/signals'
import { Globe, MapPin, Minus, Plus } from 'lucide'
import { useEffect, useRef } from 'preact/hooks'
import { IconButton } from '../../kit/button.tsx'
import { Icon } from '../../kit/icon.tsx'
import { clustersOf, type Cluster } from './clusters.ts'
import { entries, places } from './store.ts'
import { words } from './words.ts'
import { degrees, HEIGHT, land, pointOf, WIDTH } from './world.ts'

const MAX_ZOOM = 40

/** The visible part of the map: centre and magnification. */
interface Viewport {
  x: number
  y: number
  zoom: number
}

const whole: Viewport = { x: WIDTH / 2, y: HEIGHT / 2, zoom: 1 }

/** Keeps the centre on the map. */
const clamp = ({ x, y, zoom }: Viewport): Viewport => ({
  x: Math.max(0, Math.min(WIDTH, x)),
  y: Math.max(0, Math.min(HEIGHT, y)),
  zoom: Math.max(1, Math.min(MAX_ZOOM, zoom)),
})

/** A place, or the number of places near each other, which a click zooms in on. */
function Marker({
  of: { places: found },
  style,
  onZoom,
}: {
  of: Cluster
  style: { left: string; top: string }
  /** Undefined at the maximum zoom. */
  onZoom: (() => void) | undefined
}) {
  const [place] = found
  const isOne = found.length === 1
  const label = isOne ? place!.name || words('unnamed') : words('cluster', found.length)
  return (
    <button
      type="button"
      class={isOne ? 'marker' : 'marker cluster'}
      title={label}
      aria-label={label}
      aria-pressed={isOne ? place!.key === entries.open.value : undefined}
      style={style}
      onClick={isOne || !onZoom ? () => void (entries.open.value = place!.key) : onZoom}
    >
      {isOne ? <Icon of={MapPin} size={22} /> : <span aria-hidden="true">{found.length}</span>}
    </button>
  )
}

/** A world map that loads nothing from other servers. */
export function WorldMap() {
  const viewport = useSignal(whole)
  const dragged = useRef<{ x: number; y: number } | undefined>(undefined)
  const frame = useRef<HTMLDivElement>(null)
  const { x, y, zoom } = viewport.value
  const [width, height] = [WIDTH / zoom, HEIGHT / zoom]
  const move = (change: Partial<Viewport>) => void (viewport.value = clamp({ ...viewport.value, ...change }))
  const open = entries.current.value
  const clusters = useComputed(() => clustersOf(places.value, viewport.value.zoom, entries.current.value?.key))
  useEffect(() => {
    if (!open) return
    const point = pointOf(open)
    if (Math.abs(point.x - x) > width / 2 || Math.abs(point.y - y) > height / 2) move(point)
  }, [open?.key, open?.latitude, open?.longitude])

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget) return
    const step = 0.15
    const change = {
      ArrowLeft: { x: x - width * step },
      ArrowRight: { x: x + width * step },
      ArrowUp: { y: y - height * step },
      ArrowDown: { y: y + height * step },
      '+': { zoom: zoom * 1.5 },
      '-': { zoom: zoom / 1.5 },
      Home: whole,
    }[event.key]
    if (!change) return
    event.preventDefault()
    move(change)
  }
  return (
    <div class="map-around">
      <div
        ref={frame}
        class="map"
        role="group"
        aria-label={words('map')}
        tabIndex={0}
        onKeyDown={onKeyDown}
        onWheel={(event) => {
          event.preventDefault()
          move({ zoom: zoom * (event.deltaY < 0 ? 1.25 : 0.8) })
        }}
        onPointerDown={(event) => {
          if (event.target instanceof Element && event.target.closest('button')) return
          dragged.current = { x: event.clientX, y: event.clientY }
          event.currentTarget.setPointerCapture(event.pointerId)
        }}
        onPointerMove={(event) => {
          const from = dragged.current
          if (!from) return
          const scale = width / frame.current!.clientWidth
          move({ x: x - (event.clientX - from.x) * scale, y: y - (event.clientY - from.y) * scale })
          dragged.current = { x: event.clientX, y: event.clientY }
        }}
        onPointerUp={() => void (dragged.current = undefined)}
        onPointerCancel={() => void (dragged.current = undefined)}
      >
        <svg viewBox={`${x - width / 2} ${y - height / 2} ${width} ${height}`} aria-hidden="true">
          <rect class="sea" x={-WIDTH} y={-HEIGHT} width={WIDTH * 3} height={HEIGHT * 3} />
          <path class="land" d={land} />
          <path class="degrees" d={degrees} />
        </svg>
        {clusters.value.map((cluster) => {
          const [left, top] = [(cluster.x - x) / width + 0.5, (cluster.y - y) / height + 0.5]
          if (left < 0 || left > 1 || top < 0 || top > 1) return null
          return (
            <Marker
              key={cluster.key}
              of={cluster}
              style={{ left: `${left * 100}%`, top: `${top * 100}%` }}
              onZoom={zoom < MAX_ZOOM ? () => move({ x: cluster.x, y: cluster.y, zoom: zoom * 2 }) : undefined}
            />
          )
        })}
      </div>
      <div class="map-controls">
        <IconButton icon={Plus} label={words('zoom_in')} onClick={() => move({ zoom: zoom * 1.5 })} />
        <IconButton icon={Minus} label={words('zoom_out')} onClick={() => move({ zoom: zoom / 1.5 })} />
        <IconButton icon={Globe} label={words('whole')} onClick={() => move(whole)} />
      </div>
    </div>
  )
}
