import { computed } from '@preact/signals'
import { backLevels, goBack } from '../kit/back-levels.ts'
import { sendToApp } from './frame-registry.ts'
import { front, isPhone, openApp, windows } from './windows.ts'

// On phones, the history of the browser has one entry per open view: the app, its views, dialogs. Back leaves the
// innermost one, and the desktop only when none is open. On larger screens, the desktop adds no entries.

/** State of a history entry. Forward opens its app at its path. */
interface Entry {
  levels: number
  slug?: string
  path?: string
}

const openLevels = computed(() =>
  isPhone.value ? backLevels.value + (front.value ? 1 + front.value.backLevels : 0) : 0,
)

/** Levels of the current history entry. */
let current = 0
/** Levels that the user asked for with Back, and how many were open before the last view was left. */
let leaving: { to: number; from: number } | undefined
/** Set while a traversal started here has not ended; one that only moves a frame ends without an event. */
let traversal: ReturnType<typeof setTimeout> | undefined

const levelsOf = (state: unknown): number => Number((state as Entry | null)?.levels) || 0

function leaveView(to: number): void {
  leaving = { to, from: openLevels.peek() }
  const one = front.peek()
  if (backLevels.peek() > 0) goBack()
  else if (one && one.backLevels > 0) sendToApp(one.id, { type: 'svc-back' })
  else windows.value = windows.peek().map((other) => ({ ...other, minimised: true }))
}

/** Makes the history match the open views. */
function update(): void {
  if (traversal !== undefined) return
  const open = openLevels.peek()
  if (leaving && open === leaving.from) return
  if (leaving && open > leaving.to && open < leaving.from) return leaveView(leaving.to)
  leaving = undefined
  const { slug, location: path } = front.peek() ?? {}
  if (open < current) {
    traversal = setTimeout(endTraversal, 1_000)
    history.go(open - current)
  } else if (open === current && open > 0) history.replaceState({ levels: open, slug, path }, '')
  else while (current < open) history.pushState({ levels: ++current, slug, path }, '')
}

function endTraversal(): void {
  clearTimeout(traversal)
  traversal = undefined
  update()
}

export function startBackButton(): void {
  current = levelsOf(history.state)
  // One view is often replaced by another in two steps.
  const updateLater = (): void => void setTimeout(update)
  const view = computed(() => `${openLevels.value} ${front.value?.slug} ${front.value?.location}`)
  view.subscribe(updateLater)
  addEventListener('popstate', ({ state }) => {
    current = levelsOf(state)
    const open = openLevels.peek()
    const { slug, path } = (state ?? {}) as Partial<Entry>
    if (traversal !== undefined) endTraversal()
    else if (current < open && !location.hash.startsWith('#open=')) leaveView(current)
    else {
      if (current > open && isPhone.peek() && slug !== undefined) openApp(slug, path)
      updateLater()
    }
  })
}
