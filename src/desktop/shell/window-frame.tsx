import { useEffect, useRef, useState } from 'preact/hooks'
import { AppIcon } from './app-icon.tsx'
import { appName } from './app-name.ts'
import { WindowContent } from './window-content.tsx'
import { startDrag, snapTarget } from './window-drag.ts'
import { WindowButtons } from './window-buttons.tsx'
import { updateWindow, insets, front, isPhone, moveTo, place, raise, type AppWindow, type Rect } from './windows.ts'
import { words } from './words.ts'

const sides = ['n', 'e', 's', 'w', 'ne', 'nw', 'se', 'sw'] as const

/** Pixels per arrow key. */
const STEP = 24

function movedByKey({ x, y, width, height }: Rect, mode: 'move' | 'resize', key: string): Rect | undefined {
  const by = { ArrowLeft: [-STEP, 0], ArrowRight: [STEP, 0], ArrowUp: [0, -STEP], ArrowDown: [0, STEP] }[key]
  if (!by) return undefined
  const [dx = 0, dy = 0] = by
  return mode === 'move' ? { x: x + dx, y: y + dy, width, height } : { x, y, width: width + dx, height: height + dy }
}

/** A window, moved and resized by mouse, touch and keyboard. On phones the top bar replaces its title bar. */
export function WindowFrame({ window: one }: { window: AppWindow }) {
  const { id, slug } = one
  const [mode, setMode] = useState<'move' | 'resize' | undefined>(undefined)
  const section = useRef<HTMLElement>(null)
  const title = one.title || appName(slug)
  const isFront = front.value?.id === id
  const isFree = one.place === 'free' && !isPhone.value
  const where = isPhone.value ? 'full' : one.place

  useEffect(() => {
    if (isFront && !mode)
      (section.current?.querySelector<HTMLElement>('iframe:not(.waiting)') ?? section.current)?.focus()
  }, [isFront, mode])

  function onKeyDown(event: KeyboardEvent): void {
    if (!mode) return
    const rect = movedByKey(one, mode, event.key)
    if (rect) moveTo(id, rect)
    else if (event.key === 'Enter' || event.key === 'Escape') setMode(undefined)
    else return
    event.preventDefault()
    event.stopPropagation()
  }

  const startMode = (which: 'move' | 'resize') => {
    if (one.place !== 'free') updateWindow(id, { place: 'free' })
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
              top: `${one.y - insets.top}px`,
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
          onPointerDown={(event) => startDrag(event, one, 'move')}
          onDblClick={() => place(id, one.place === 'full' ? 'free' : 'full')}
        >
          <AppIcon slug={slug} size={20} />
          <h2>{title}</h2>
          {one.unsaved && <span class="unsaved-dot" aria-hidden="true" />}
          {mode && <span role="status">{words(mode === 'move' ? 'moving' : 'resizing')}</span>}
          <WindowButtons window={one} onKeys={startMode} />
        </header>
      )}
      <WindowContent key={one.reloads} window={one} title={title} />
      {isFree &&
        sides.map((side) => (
          <div key={side} class={`grip ${side}`} onPointerDown={(event) => startDrag(event, one, side)} />
        ))}
    </section>
  )
}

/** Shows where the dragged window would snap. */
export const SnapPreview = () =>
  snapTarget.value === undefined ? null : <div class={`snap-preview ${snapTarget.value}`} aria-hidden="true" />
