import { signal } from '@preact/signals'
import type { Times } from '../../kit/event-days.ts'
import type { Occurrence } from './occurrences.ts'
import { draggedTimes, drawnTimes, type Place } from './new-times.ts'

// Dragging with mouse, pen or finger. Elements with `data-date` are days; those with `data-hours` show its 24 hours.

interface Drag {
  kind: 'create' | 'move' | 'resize'
  /** The occurrence that moves; undefined while a new event is drawn. */
  of: Occurrence | undefined
  times: Times
}

/** The drag in progress, for the views to show where it would end. */
export const drag = signal<Drag | undefined>(undefined)

/** Pixels that a mouse moves before a drag begins; a finger holds still for `HOLD_MS` instead. */
const THRESHOLD = 4
const FINGER_THRESHOLD = 10
const HOLD_MS = 400

/** Distance from the edge of the view in which it scrolls, and pixels per step. */
const EDGE = 32
const SCROLL_STEP = 12

/** The place at a point of the page; undefined outside of all days. */
function placeAt(x: number, y: number): Place | undefined {
  const element = document
    .elementsFromPoint(x, y)
    .find((one): one is HTMLElement => one instanceof HTMLElement && one.dataset['date'] !== undefined)
  if (!element) return undefined
  const { top, height } = element.getBoundingClientRect()
  const minute = Math.max(0, Math.min(1_440, ((y - top) / height) * 1_440))
  return { day: element.dataset['date']!, minute: element.dataset['hours'] === undefined ? undefined : minute }
}

function scrollAtEdge(start: Element, y: number): void {
  const view = start.closest('.time-view')
  if (!view) return
  const { bottom } = view.getBoundingClientRect()
  const top = view.querySelector('.time-head')!.getBoundingClientRect().bottom
  if (y > bottom - EDGE) view.scrollTop += SCROLL_STEP
  else if (y < top + EDGE) view.scrollTop -= SCROLL_STEP
}

/** A click follows the end of a drag, and is not meant for what is below the pointer. */
function swallowClick(): void {
  const swallow = (event: Event): void => event.stopPropagation()
  addEventListener('click', swallow, { capture: true, once: true })
  setTimeout(() => removeEventListener('click', swallow, { capture: true }))
}

/** Follows a pressed pointer; `onDrop` gets the times where it is released after a drag. */
export function followPointer(
  down: PointerEvent,
  kind: Drag['kind'],
  of: Occurrence | undefined,
  onDrop: (times: Times) => void,
): void {
  const from = placeAt(down.clientX, down.clientY)
  const target = down.target
  if (down.button !== 0 || !down.isPrimary || !from || !(target instanceof Element)) return
  const isFinger = down.pointerType === 'touch'
  let isHeld = !isFinger

  const timesAt = (to: Place): Times | undefined => {
    // A day and an hour have no distance.
    if ((from.minute === undefined) !== (to.minute === undefined)) return undefined
    if (kind === 'create') return drawnTimes(from, from.minute === undefined ? to : { ...to, day: from.day })
    return draggedTimes(kind, of!, from, to)
  }
  const move = (event: PointerEvent): void => {
    if (event.pointerId !== down.pointerId) return
    const distance = Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY)
    if (!isHeld) return distance > FINGER_THRESHOLD ? stop() : undefined
    if (!drag.value && distance < THRESHOLD) return
    scrollAtEdge(target, event.clientY)
    const to = placeAt(event.clientX, event.clientY)
    const times = to && timesAt(to)
    if (times) drag.value = { kind, of, times }
  }
  const up = (event: PointerEvent): void => {
    if (event.pointerId !== down.pointerId) return
    const dropped = drag.value
    stop()
    if (!dropped) return
    swallowClick()
    onDrop(dropped.times)
  }
  const escape = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape' || !drag.value) return
    event.stopPropagation()
    stop()
    swallowClick()
  }
  // Keeps the page from scrolling under a finger that drags.
  const hold = (event: TouchEvent): void => {
    if (isHeld) event.preventDefault()
  }
  const timer = setTimeout(() => {
    isHeld = true
    if (isFinger) drag.value = { kind, of, times: timesAt(from)! }
  }, HOLD_MS)
  const controller = new AbortController()
  const { signal: ended } = controller
  function stop(): void {
    clearTimeout(timer)
    controller.abort()
    drag.value = undefined
  }
  addEventListener('pointermove', move, { signal: ended })
  addEventListener('pointerup', up, { signal: ended })
  addEventListener('pointercancel', stop, { signal: ended })
  addEventListener('blur', stop, { signal: ended })
  addEventListener('keydown', escape, { signal: ended, capture: true })
  document.addEventListener('touchmove', hold, { signal: ended, passive: false })
}
