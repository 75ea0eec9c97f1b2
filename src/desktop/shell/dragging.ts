import { signal } from '@preact/signals'
import { edges, moveTo, place, raise, windows, type AppWindow, type Box, type Place } from './windows.ts'

type Side = 'n' | 'e' | 's' | 'w' | 'ne' | 'nw' | 'se' | 'sw'

/** Where the window that is being moved would snap to. */
export const preview = signal<Exclude<Place, 'free'> | undefined>(undefined)

/** Pixels from the edge of the screen at which a window snaps. */
const NEAR = 12
/** Pixels that a pointer may tremble without dragging. */
const TREMBLE = 4

function resized({ x, y, width, height }: Box, side: Side, dx: number, dy: number): Box {
  const east = side.includes('e') ? dx : 0
  const south = side.includes('s') ? dy : 0
  const west = side.includes('w') ? Math.min(dx, width - 320) : 0
  const north = side.includes('n') ? Math.min(dy, height - 220, innerHeight) : 0
  const top = Math.max(edges.top, y + north)
  return { x: x + west, y: top, width: width + east - west, height: height + south - (top - y) }
}

function snapAt(x: number, y: number): Exclude<Place, 'free'> | undefined {
  if (y <= edges.top + 2) return 'full'
  if (x <= NEAR) return 'left'
  return x >= innerWidth - NEAR ? 'right' : undefined
}

/** Follows a pointer that took hold of a window's bar or edge, over frames too, until it lets go. */
export function drag(event: PointerEvent & { currentTarget: HTMLElement }, one: AppWindow, what: 'move' | Side): void {
  const isControl = event.target instanceof Element && event.target.closest('button, .menu') !== null
  if (event.button !== 0 || isControl) return
  const handle = event.currentTarget
  const { clientX: startX, clientY: startY, pointerId } = event
  let box: Box = one
  let isMoving = false
  raise(one.id)
  // Captured at once: the next movement may already be over a frame, which would swallow it.
  handle.setPointerCapture(pointerId)

  const follow = ({ clientX, clientY }: PointerEvent) => {
    const dx = clientX - startX
    const dy = clientY - startY
    if (!isMoving && Math.hypot(dx, dy) < TREMBLE) return
    if (!isMoving) {
      isMoving = true
      document.documentElement.classList.add('dragging')
      // Taken off an edge, a window has its own size again, under the pointer.
      if (what === 'move' && one.place !== 'free') {
        box = { ...one, x: startX - Math.min(one.width / 2, startX), y: edges.top }
      }
    }
    if (what === 'move') {
      moveTo(one.id, { ...box, x: box.x + dx, y: box.y + dy })
      preview.value = snapAt(clientX, clientY)
    } else moveTo(one.id, resized(box, what, dx, dy))
  }

  const end = () => {
    handle.removeEventListener('pointermove', follow)
    handle.removeEventListener('pointerup', end)
    handle.removeEventListener('pointercancel', end)
    document.documentElement.classList.remove('dragging')
    const where = preview.value
    preview.value = undefined
    const isOpen = windows.value.some(({ id }) => id === one.id)
    if (!isMoving || !where || !isOpen) return
    // The size to come back to is the one it had before.
    moveTo(one.id, box)
    place(one.id, where)
  }

  handle.addEventListener('pointermove', follow)
  handle.addEventListener('pointerup', end)
  handle.addEventListener('pointercancel', end)
}
