import { useEffect, useRef, useState } from 'preact/hooks'
import { AppIcon } from './app-icon.tsx'
import { appName } from './app-name.ts'
import { Frame } from './frame.tsx'
import { drag, preview } from './dragging.ts'
import { WindowButtons } from './window-buttons.tsx'
import { change, edges, front, isPhone, moveTo, place, raise, type AppWindow, type Box } from './windows.ts'
import { words } from './words.ts'

const sides = ['n', 'e', 's', 'w', 'ne', 'nw', 'se', 'sw'] as const

/** Pixels that an arrow key moves. */
const STEP = 24

function keyed({ x, y, width, height }: Box, mode: 'move' | 'resize', key: string): Box | undefined {
  const by = { ArrowLeft: [-STEP, 0], ArrowRight: [STEP, 0], ArrowUp: [0, -STEP], ArrowDown: [0, STEP] }[key]
  if (!by) return undefined
  const [dx = 0, dy = 0] = by
  return mode === 'move' ? { x: x + dx, y: y + dy, width, height } : { x, y, width: width + dx, height: height + dy }
}

/** A window with its bar, moved and resized by mouse, touch and keys; on a phone the bar of the desktop is its bar too. */
export function WindowFrame({ window: one }: { window: AppWindow }) {
  const { id, slug } = one
  const [mode, setMode] = useState<'move' | 'resize' | undefined>(undefined)
  const section = useRef<HTMLElement>(null)
  const title = one.title || appName(slug)
  const isFront = front.value?.id === id
  const isFree = one.place === 'free' && !isPhone.value
  const where = isPhone.value ? 'full' : one.place

  useEffect(() => {
    if (isFront && !mode) section.current?.querySelector('iframe')?.focus()
  }, [isFront, mode])

  function onKeyDown(event: KeyboardEvent): void {
    if (!mode) return
    const box = keyed(one, mode, event.key)
    if (box) moveTo(id, box)
    else if (event.key === 'Enter' || event.key === 'Escape') setMode(undefined)
    else return
    event.preventDefault()
    event.stopPropagation()
  }

  const begin = (which: 'move' | 'resize') => {
    if (one.place !== 'free') change(id, { place: 'free' })
    setMode(which)
    section.current?.focus()
  }

  return (
    <section
      ref={section}
      class={`window ${where} ${isFront ? 'front' : ''}`}
      aria-label={title}
      tabIndex={-1}
      hidden={one.minimised}
      style={{
        zIndex: one.depth,
        ...(isFree
          ? {
              left: `${one.x}px`,
              top: `${one.y - edges.top}px`,
              width: `${one.width}px`,
              height: `${one.height}px`,
            }
          : {}),
      }}
      onPointerDown={() => raise(id)}
      onKeyDown={onKeyDown}
      onBlur={(event) => mode && event.target === section.current && setMode(undefined)}
    >
      {!isPhone.value && (
        <header
          class="window-bar"
          onPointerDown={(event) => drag(event, one, 'move')}
          onDblClick={() => place(id, one.place === 'full' ? 'free' : 'full')}
        >
          <AppIcon slug={slug} size={20} />
          <h2>{title}</h2>
          {one.unsaved && <span class="unsaved-dot" aria-hidden="true" />}
          {mode && <span role="status">{words(mode === 'move' ? 'moving' : 'resizing')}</span>}
          <WindowButtons window={one} onKeys={begin} />
        </header>
      )}
      <Frame key={one.round} window={one} title={title} />
      {isFree &&
        sides.map((side) => (
          <div key={side} class={`grip ${side}`} onPointerDown={(event) => drag(event, one, side)} />
        ))}
    </section>
  )
}

/** Where a window would go if it were let go now. */
export const SnapPreview = () =>
  preview.value === undefined ? null : <div class={`snap-preview ${preview.value}`} aria-hidden="true" />
