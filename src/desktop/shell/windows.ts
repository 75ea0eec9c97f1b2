import { batch, computed, effect, signal } from '@preact/signals'
import { appBySlug, isBuiltIn } from './apps.ts'
import type { Rect } from './rect.ts'
import { panelLayouts } from './components/components.ts'
import { user } from './session.ts'
import { readItem, writeItem } from './local-storage.ts'

export type { Rect } from './rect.ts'

/** `left` and `right` fill half of the screen, `full` all of it. */
export type Place = 'free' | 'left' | 'right' | 'full'

/** Position of a free window, and the size of the page at that time. */
interface Placement extends Rect {
  pageWidth: number
  pageHeight: number
}

export interface AppWindow extends Rect {
  /** Restored when the page becomes large enough again. */
  placement: Placement
  id: number
  slug: string
  /** The path the app was asked to show. */
  path: string
  /** The path the app reports to show. */
  location: string
  /** Incremented when the same path is requested again. */
  pathRequests: number
  title: string
  place: Place
  minimised: boolean
  /** Windows with a higher number are in front. */
  depth: number
  reloads: number
  unsaved: boolean
  /** Number of views of the app that the Back button of a phone leaves one by one. */
  backLevels: number
}

/** Space that windows do not cover, pixels. */
export const insets = { top: 40, bottom: 76 } as const

const MIN_SIZE = { width: 320, height: 220 } as const

/** Below this width, windows fill the screen. */
const phone = matchMedia('(width < 640px)')
export const isPhone = signal(phone.matches)
phone.addEventListener('change', ({ matches }) => void (isPhone.value = matches))

/** Windows in the order of their elements, which never changes: moving a frame in the DOM would reload it. */
export const windows = signal<readonly AppWindow[]>([])

export const front = computed(() =>
  windows.value
    .filter(({ minimised }) => !minimised)
    .reduce<AppWindow | undefined>((first, one) => (first && first.depth > one.depth ? first : one), undefined),
)

let lastId = 0
let lastDepth = 0

const blank = {
  path: '/',
  location: '/',
  pathRequests: 0,
  title: '',
  place: 'free',
  minimised: false,
  reloads: 0,
  unsaved: false,
  backLevels: 0,
} as const

/**
 * A hidden window whose frame has loaded the code that built-in apps share. The next built-in app to be opened gets it.
 */
export const prewarmed = signal<AppWindow | undefined>(undefined)
let isPrewarmReady = false

/** Creates the prewarmed window, if there is none. */
export function prewarm(): void {
  if (prewarmed.value) return
  isPrewarmReady = false
  prewarmed.value = { ...blank, id: ++lastId, slug: '', minimised: true, depth: 0, ...placed(initialRect('')) }
}

/** Records that the prewarmed page is ready for an app. */
export function markPrewarmed(id: number): void {
  if (prewarmed.value?.id === id) isPrewarmReady = true
}

/** Removes the prewarmed window after its page could not be loaded. */
export function discardPrewarmed(id: number): void {
  if (prewarmed.value?.id === id) prewarmed.value = undefined
}

function takePrewarmed(): number | undefined {
  const id = isPrewarmReady ? prewarmed.value?.id : undefined
  if (id === undefined) return undefined
  prewarmed.value = undefined
  isPrewarmReady = false
  return id
}

/** Validates a path; invalid ones become `/`. */
export function validPath(value: unknown): string {
  const path = typeof value === 'string' ? value.slice(0, 4_096) : ''
  const isValid = path.startsWith('/') && !/[\p{Cc}\\]/u.test(path) && path.isWellFormed()
  return isValid && !path.split('/').some((part) => part === '.' || part === '..') ? path : '/'
}

export function updateWindow(id: number, values: Partial<AppWindow>): void {
  windows.value = windows.value.map((one) => (one.id === id ? { ...one, ...values } : one))
}

export function raise(id: number): void {
  if (front.value?.id === id) return
  updateWindow(id, { minimised: false, depth: ++lastDepth })
}

const workArea = () => ({ width: innerWidth, height: innerHeight - insets.top - insets.bottom })

/** Keeps a part of the title bar reachable. */
function clampToWorkArea({ x, y, width, height }: Rect): Rect {
  const space = workArea()
  const w = Math.max(MIN_SIZE.width, Math.min(width, space.width))
  const h = Math.max(MIN_SIZE.height, Math.min(height, space.height))
  return {
    width: w,
    height: h,
    x: Math.max(80 - w, Math.min(x, innerWidth - 80)),
    y: Math.max(insets.top, Math.min(y, innerHeight - insets.bottom - 32)),
  }
}

/** The position of a window; fully visible if the page is smaller than when it was placed. */
function fit({ pageWidth, pageHeight, ...wanted }: Placement): Rect {
  const rect = clampToWorkArea(wanted)
  if (innerWidth >= pageWidth && innerHeight >= pageHeight) return rect
  return {
    ...rect,
    x: Math.max(0, Math.min(rect.x, innerWidth - rect.width)),
    y: Math.max(insets.top, Math.min(rect.y, innerHeight - insets.bottom - rect.height)),
  }
}

function placed(rect: Rect): Rect & { placement: Placement } {
  const { x, y, width, height } = clampToWorkArea(rect)
  const placement = { x, y, width, height, pageWidth: innerWidth, pageHeight: innerHeight }
  return { x, y, width, height, placement }
}

export const moveTo = (id: number, rect: Rect): void => updateWindow(id, { ...placed(rect), place: 'free' })

function initialRect(slug: string): Rect {
  const space = workArea()
  const small = slug === 'settings'
  const width = Math.min(small ? 880 : 1_040, space.width - 48)
  const height = Math.min(small ? 640 : 700, space.height - 24)
  const requested = [...panelLayouts.value.values()].findLast((layout) => layout.windows.has(slug))?.windows.get(slug)
  if (requested) return clampToWorkArea({ ...requested, y: requested.y + insets.top })
  const step = (windows.value.filter(({ minimised }) => !minimised).length % 6) * 28
  return clampToWorkArea({
    width,
    height,
    x: Math.max(8, Math.min(Math.round((space.width - width) / 2) + step - 28, space.width - width - 8)),
    y: Math.min(insets.top + Math.round((space.height - height) / 2) + step - 12, insets.top + space.height - height),
  })
}

/** Opens an app, or raises its window; `fresh` always opens a new one. */
export function openApp(slug: string, path = '/', { fresh = false } = {}): AppWindow | undefined {
  const app = appBySlug(slug)
  if (!app) return undefined
  const open = fresh ? undefined : windows.value.findLast((one) => one.slug === slug)
  if (open) {
    raise(open.id)
    if (path !== '/') updateWindow(open.id, { path, location: path, pathRequests: open.pathRequests + 1 })
    return open
  }
  return batch(() => {
    const id = (isBuiltIn(app) ? takePrewarmed() : undefined) ?? ++lastId
    const made: AppWindow = {
      ...blank,
      id,
      slug,
      path,
      location: path,
      depth: ++lastDepth,
      ...placed(initialRect(slug)),
    }
    windows.value = [...windows.value, made]
    return made
  })
}

export function closeWindow(id: number): void {
  windows.value = windows.value.filter((one) => one.id !== id)
}

export const minimise = (id: number): void => updateWindow(id, { minimised: true })

export const place = (id: number, where: Place): void =>
  updateWindow(id, { place: where, minimised: false, depth: ++lastDepth })

/** Switches to the least recently used window. */
export function cycleWindows(): void {
  const last = windows.value.reduce<AppWindow | undefined>(
    (first, one) => (first && first.depth < one.depth ? first : one),
    undefined,
  )
  if (last) raise(last.id)
}

export function reloadApp(slug: string): void {
  windows.value = windows.value.map((one) =>
    one.slug === slug ? { ...one, reloads: one.reloads + 1, unsaved: false } : one,
  )
}

const keyOf = (person: number): string => `svc.windows.${person}`

type StoredWindow = Pick<AppWindow, 'slug' | 'path' | 'place' | 'minimised'> & Rect & Partial<Placement>

/** Restores the windows of the last visit, and stores changes. */
export function restoreWindows(): void {
  const person = user.value
  if (!person) return
  for (const one of readItem<StoredWindow[]>(keyOf(person.id), []).slice(0, 12)) {
    const made = openApp(String(one.slug), String(one.path), { fresh: true })
    const { x, y, width, height, pageWidth = innerWidth, pageHeight = innerHeight } = one
    const placement = { x, y, width, height, pageWidth, pageHeight }
    const isValid = Object.values(placement).every((value) => Number.isFinite(value))
    if (!made || !isValid) continue
    const where: Place = (['left', 'right', 'full'] as const).find((known) => known === one.place) ?? 'free'
    updateWindow(made.id, { ...fit(placement), placement, place: where, minimised: one.minimised === true })
  }
  let due: { timer: ReturnType<typeof setTimeout>; save: () => void } | undefined
  const saveNow = (): void => {
    clearTimeout(due?.timer)
    due?.save()
    due = undefined
  }
  effect(() => {
    const stored = windows.value
      .toSorted((a, b) => a.depth - b.depth)
      .map(({ slug, location: path, place: where, minimised, placement }): StoredWindow => {
        return { slug, path, place: where, minimised, ...placement }
      })
    clearTimeout(due?.timer)
    due = { timer: setTimeout(saveNow, 200), save: () => writeItem(keyOf(person.id), stored) }
  })
  // Also stores the last change before a reload.
  addEventListener('pagehide', saveNow)
}

addEventListener('resize', () => {
  windows.value = windows.value.map((one) => ({ ...one, ...fit(one.placement) }))
})
