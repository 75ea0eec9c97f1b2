import { batch, computed, effect, signal } from '@preact/signals'
import { appBySlug, isOfPackage } from './apps.ts'
import type { Box } from './box.ts'
import { panelWishes } from './components/components.ts'
import { user } from './session.ts'
import { readStored, store } from './stored.ts'

export type { Box } from './box.ts'

/** Where a window is: free, on half of the screen, or on all of it. */
export type Place = 'free' | 'left' | 'right' | 'full'

export interface AppWindow extends Box {
  id: number
  slug: string
  /** What the app was asked to show. */
  path: string
  /** Raised when it is asked for the same again. */
  asked: number
  title: string
  place: Place
  minimised: boolean
  /** Windows with a higher number are in front. */
  depth: number
  /** Raised to load the app anew. */
  round: number
  unsaved: boolean
}

/** Pixels of the screen that windows do not cover. */
export const edges = { top: 40, bottom: 76 } as const

const MIN = { width: 320, height: 220 } as const

/** Below this width windows fill the screen. */
const phone = matchMedia('(width < 640px)')
export const isPhone = signal(phone.matches)
phone.addEventListener('change', ({ matches }) => void (isPhone.value = matches))

/** Windows in the order in which they were opened, which is the order of their elements: moving a frame would load it anew. */
export const windows = signal<readonly AppWindow[]>([])

export const front = computed(() =>
  windows.value
    .filter(({ minimised }) => !minimised)
    .reduce<AppWindow | undefined>((first, one) => (first && first.depth > one.depth ? first : one), undefined),
)

let lastId = 0
let lastDepth = 0

const blank = { path: '/', asked: 0, title: '', place: 'free', minimised: false, round: 0, unsaved: false } as const

/**
 * A window that nobody sees, with a frame in which everything is loaded that apps of the package share. The next one to be
 * opened turns into that app, which so need not be loaded from the beginning.
 */
export const spare = signal<AppWindow | undefined>(undefined)
let isSpareReady = false

/** Makes the spare window, where there is none. */
export function prepareSpare(): void {
  if (spare.value) return
  isSpareReady = false
  spare.value = { ...blank, id: ++lastId, slug: '', minimised: true, depth: 0, ...firstBox('') }
}

/** Says that the page of the spare window waits for an app. */
export function spareIsReady(id: number): void {
  if (spare.value?.id === id) isSpareReady = true
}

function takeSpare(): number | undefined {
  const id = isSpareReady ? spare.value?.id : undefined
  if (id === undefined) return undefined
  spare.value = undefined
  isSpareReady = false
  return id
}

export function change(id: number, values: Partial<AppWindow>): void {
  windows.value = windows.value.map((one) => (one.id === id ? { ...one, ...values } : one))
}

/** Puts a window in front of the others. */
export function raise(id: number): void {
  if (front.value?.id === id) return
  change(id, { minimised: false, depth: ++lastDepth })
}

const room = () => ({ width: innerWidth, height: innerHeight - edges.top - edges.bottom })

/** Keeps a window where it can be taken hold of. */
function within({ x, y, width, height }: Box): Box {
  const space = room()
  const w = Math.max(MIN.width, Math.min(width, space.width))
  const h = Math.max(MIN.height, Math.min(height, space.height))
  return {
    width: w,
    height: h,
    x: Math.max(80 - w, Math.min(x, innerWidth - 80)),
    y: Math.max(edges.top, Math.min(y, innerHeight - edges.bottom - 32)),
  }
}

export const moveTo = (id: number, box: Box): void => change(id, { ...within(box), place: 'free' })

function firstBox(slug: string): Box {
  const space = room()
  const small = slug === 'settings'
  const width = Math.min(small ? 880 : 1_040, space.width - 48)
  const height = Math.min(small ? 640 : 700, space.height - 24)
  const wished = [...panelWishes.value.values()].findLast((wish) => wish.windows.has(slug))?.windows.get(slug)
  if (wished) return within({ ...wished, y: wished.y + edges.top })
  const step = (windows.value.filter(({ minimised }) => !minimised).length % 6) * 28
  return within({
    width,
    height,
    x: Math.min(Math.round((space.width - width) / 2) + step - 28, space.width - width - 8),
    y: Math.min(edges.top + Math.round((space.height - height) / 2) + step - 12, edges.top + space.height - height),
  })
}

/** Opens an app, or comes back to its window when it is open; `fresh` opens another one in any case. */
export function openApp(slug: string, path = '/', { fresh = false } = {}): AppWindow | undefined {
  const app = appBySlug(slug)
  if (!app) return undefined
  const open = fresh ? undefined : windows.value.findLast((one) => one.slug === slug)
  if (open) {
    raise(open.id)
    if (path !== '/') change(open.id, { path, asked: open.asked + 1 })
    return open
  }
  return batch(() => {
    const id = (isOfPackage(app) ? takeSpare() : undefined) ?? ++lastId
    const made: AppWindow = { ...blank, id, slug, path, depth: ++lastDepth, ...firstBox(slug) }
    windows.value = [...windows.value, made]
    return made
  })
}

export function close(id: number): void {
  windows.value = windows.value.filter((one) => one.id !== id)
}

export const minimise = (id: number): void => change(id, { minimised: true })

export const place = (id: number, where: Place): void =>
  change(id, { place: where, minimised: false, depth: ++lastDepth })

/** Goes to the window that was used longest ago. */
export function next(): void {
  const last = windows.value.reduce<AppWindow | undefined>(
    (first, one) => (first && first.depth < one.depth ? first : one),
    undefined,
  )
  if (last) raise(last.id)
}

/** Loads the windows of an app anew. */
export function reloadApp(slug: string): void {
  windows.value = windows.value.map((one) =>
    one.slug === slug ? { ...one, round: one.round + 1, unsaved: false } : one,
  )
}

const keyOf = (person: number): string => `svc.windows.${person}`

type Stored = Pick<AppWindow, 'slug' | 'path' | 'place' | 'minimised' | keyof Box>

/** Opens what was open before, and keeps in the browser what is open from now on. */
export function restore(): void {
  const person = user.value
  if (!person) return
  for (const one of readStored<Stored[]>(keyOf(person.id), []).slice(0, 12)) {
    const made = openApp(String(one.slug), String(one.path), { fresh: true })
    const isSound = [one.x, one.y, one.width, one.height].every((value) => Number.isFinite(value))
    if (!made || !isSound) continue
    const where: Place = (['left', 'right', 'full'] as const).find((known) => known === one.place) ?? 'free'
    change(made.id, { ...within(one), place: where, minimised: one.minimised === true })
  }
  let due: { timer: ReturnType<typeof setTimeout>; keep: () => void } | undefined
  const keepNow = (): void => {
    clearTimeout(due?.timer)
    due?.keep()
    due = undefined
  }
  effect(() => {
    const kept = windows.value
      .toSorted((a, b) => a.depth - b.depth)
      .map(({ slug, path, place: where, minimised, x, y, width, height }): Stored => {
        return { slug, path, place: where, minimised, x, y, width, height }
      })
    clearTimeout(due?.timer)
    due = { timer: setTimeout(keepNow, 200), keep: () => store(keyOf(person.id), kept) }
  })
  // Whoever reloads at once finds the last change too.
  addEventListener('pagehide', keepNow)
}

addEventListener('resize', () => {
  windows.value = windows.value.map((one) => ({ ...one, ...within(one) }))
})
