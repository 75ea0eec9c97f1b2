import { signal } from '@preact/signals'
import { insets, moveTo, place, raise, windows, type AppWindow, type Rect, type Place } from './windows.ts'

type Side = 'n' | 'e' | 's' | 'w' | 'ne' | 'nw' | 'se' | 'sw'

export const snapTarget = signal<Exclude<Place, 'free'> | undefined>(undefined)

/** Distance from the edge of the screen at which a window snaps, pixels. */
const SNAP_DISTANCE = 12
/** Movement below which a press is not a drag, pixels. */
const DRAG_THRESHOLD = 4

function resized({ x, y, width, height }: Rect, side: Side, dx: number, dy: number): Rect {
  const east = side.includes('e') ? dx : 0
  const south = side.includes('s') ? dy : 0
  const west = side.includes('w') ? Math.min(dx, width - 320) : 0
  const north = side.includes('n') ? Math.min(dy, height - 220, innerHeight) : 0
  const top = Math.max(insets.top, y + north)
  return { x: x + west, y: top, width: width + east - west, height: height + south - (top - y) }
}

function snapAt(x: number, y: number): Exclude<Place, 'free'> | undefined {
  if (y <= insets.top + 2) return 'full'
  if (x <= SNAP_DISTANCE) return 'left'
  return x >= innerWidth - SNAP_DISTANCE ? 'right' : undefined
}

/** Drags a window by its title bar or an edge, also across frames. */
export function startDrag(
  event: PointerEvent & { currentTarget: HTMLElement },
  one: AppWindow,
  what: 'move' | Side,
): void {
  const isControl = event.target instanceof Element && event.target.closest('button, .menu') !== null
  if (event.button !== 0 || isControl) return
  const handle = event.currentTarget
  const { clientX: startX, clientY: startY, pointerId } = event
  let rect: Rect = one
  let isMoving = false
  raise(one.id)
  // Capture at once: the next move event may go to a frame.
  handle.setPointerCapture(pointerId)

  const onMove = ({ clientX, clientY }: PointerEvent) => {
    const dx = clientX - startX
    const dy = clientY - startY
    if (!isMoving && Math.hypot(dx, dy) < DRAG_THRESHOLD) return
    if (!isMoving) {
      isMoving = true
      document.documentElement.classList.add('dragging')
      // A snapped window gets its own size back, under the pointer.
      if (what === 'move' && one.place !== 'free') {
        rect = { ...one, x: startX - Math.min(one.width / 2, startX), y: insets.top }
      }
    }
    if (what === 'move') {
      moveTo(one.id, { ...rect, x: rect.x + dx, y: rect.y + dy })
      snapTarget.value = snapAt(clientX, clientY)
    } else moveTo(one.id, resized(rect, what, dx, dy))
  }

  const onEnd = () => {
    handle.removeEventListener('pointermove', onMove)
    handle.removeEventListener('pointerup', onEnd)
    handle.removeEventListener('pointercancel', onEnd)
    document.documentElement.classList.remove('dragging')
    const where = snapTarget.value
    snapTarget.value = undefined
    const isOpen = windows.value.some(({ id }) => id === one.id)
    if (!isMoving || !where || !isOpen) return
    // Unsnapping restores the size before the drag.
    moveTo(one.id, rect)
    place(one.id, where)
  }

  handle.addEventListener('pointermove', onMove)
  handle.addEventListener('pointerup', onEnd)
  handle.addEventListener('pointercancel', onEnd)
}
