import { effect, untracked } from '@preact/signals'
import { toast } from '../kit/toast.tsx'
import { appBySlug, isOfPackage } from './apps.ts'
import { fullWelcome, serve, surroundings } from './broker.ts'
import { closeAsking } from './closing.ts'
import { makeFlood } from './flood.ts'
import { appName } from './app-name.ts'
import { notify } from './notices.ts'
import { change, openApp, prepareSpare, raise, spareIsReady, windows } from './windows.ts'
import { words } from './words.ts'

/** The frame of an app and what the desktop knows of it. */
interface Frame {
  window: number
  element: HTMLIFrameElement
  /** Where an app of another origin is: the page around it is told, once. */
  address: string | undefined
  isOfPackage: boolean
  /** Pages that were loaded into it. One of the package has exactly one: another would not be the package's. */
  loads: number
  /** Whether its page is loaded and waits to hear which app it is. */
  isWaiting: boolean
  end: (() => void) | undefined
  mayTalk: () => boolean
  mayOpen: () => boolean
  mayNotify: () => boolean
  onReady: () => void
  onFlood: () => void
}

const frames = new Set<Frame>()

/** What a frame loads, and for apps of other origins what the page in it loads then. */
interface Source {
  src: string
  address?: string
}

/** Where an app is loaded from, or undefined where that is no place for apps. */
export function placeOf(slug: string): Source | undefined {
  const app = appBySlug(slug)
  const url = app && URL.parse(app.app_path, location.origin)
  if (!url) return undefined
  if (url.origin === location.origin)
    return url.pathname.startsWith('/apps/') ? ownPlace(`${url.pathname}${url.search}`) : undefined
  if (url.protocol !== 'https:') return undefined
  return { src: `/sandbox/app.html?${new URLSearchParams({ origin: url.origin })}`, address: url.href }
}

/** Listens no more to an app that floods, and says so. */
function silence(frame: Frame): void {
  const one = windows.value.find(({ id }) => id === frame.window)
  frames.delete(frame)
  frame.end?.()
  frame.onFlood()
  toast(words('flooded', appName(one?.slug ?? '')), { tone: 'bad' })
}

function ownPlace(path: string): Source {
  const { theme, language } = surroundings()
  const hash = new URLSearchParams({ theme, language })
  return { src: `${path}#${hash}` }
}

/** Where the page of the spare window is; no app can have this name. */
export const sparePlace = () => ownPlace('/apps/_/index.html')

/** Watches over the frame of a window; answers a function that ends it. */
export function adopt(
  element: HTMLIFrameElement,
  {
    window,
    slug,
    address,
    onReady,
    onFlood,
  }: { window: number; slug: string } & Pick<Frame, 'address' | 'onReady' | 'onFlood'>,
): () => void {
  const app = appBySlug(slug)
  const frame: Frame = {
    window,
    element,
    address,
    isOfPackage: slug === '' || (app !== undefined && isOfPackage(app)),
    isWaiting: false,
    loads: 0,
    end: undefined,
    mayTalk: makeFlood(100, 1_000),
    mayOpen: makeFlood(5, 1_000),
    mayNotify: makeFlood(3, 10_000),
    onReady,
    onFlood,
  }
  frames.add(frame)
  const loaded = () => {
    frame.loads++
    if (!frame.isOfPackage) frame.onReady()
    if (frame.loads > 1) frame.end?.()
  }
  element.addEventListener('load', loaded)
  return () => {
    element.removeEventListener('load', loaded)
    frames.delete(frame)
    frame.end?.()
  }
}

const text = (value: unknown, longest: number): string => (typeof value === 'string' ? value.slice(0, longest) : '')

function welcome(frame: Frame): void {
  const one = windows.value.find(({ id }) => id === frame.window)
  const target = frame.element.contentWindow
  if (!one || !target) return
  if (!frame.isOfPackage) {
    frame.onReady()
    target.postMessage({ type: 'svc-welcome', slug: one.slug, path: one.path, ...surroundings() }, '*')
    frame.end ??= effect(() => target.postMessage({ type: 'svc-surroundings', ...surroundings() }, '*'))
    return
  }
  // Once per frame, to the page that was loaded into it first.
  if (frame.end || frame.loads > 1) return
  const { port1, port2 } = new MessageChannel()
  frame.end = serve(port1, one, { onBegan: (well) => began(frame, well), onFlood: () => silence(frame) })
  target.postMessage(fullWelcome(one), '*', [port2])
}

/** Milliseconds after which what was opened has its data and the machine has time for what may come. */
const REST = 500

/** Has a frame made for the next app, once the desktop has come to rest. */
export const prepareNext = (): void => void setTimeout(prepareSpare, REST)

/** An app of the package shows something; or it could not be loaded into the page that waited for it, and gets one of its own. */
function began(frame: Frame, well: boolean): void {
  const one = windows.value.find(({ id }) => id === frame.window)
  if (well) frame.onReady()
  else if (one) change(one.id, { round: one.round + 1 })
  prepareNext()
}

// The spare window has become one with an app.
effect(() => {
  const ids = new Set(windows.value.map(({ id }) => id))
  for (const frame of frames) {
    if (!frame.isWaiting || !ids.has(frame.window)) continue
    frame.isWaiting = false
    untracked(() => welcome(frame))
  }
})

/** Names its address to the page around an app of another origin, which is there before the app is. */
function loadElsewhere(frame: Frame): void {
  const { address } = frame
  if (address === undefined) return
  frame.address = undefined
  frame.element.contentWindow?.postMessage({ type: 'svc-load', address }, '*')
}

function hear(frame: Frame, message: Record<string, unknown>): void {
  const slug = windows.value.find(({ id }) => id === frame.window)?.slug
  if (slug === undefined) {
    if (message['type'] !== 'svc-ready') return
    frame.isWaiting = true
    spareIsReady(frame.window)
    return
  }
  switch (message['type']) {
    case 'svc-frame':
      loadElsewhere(frame)
      break
    case 'svc-ready':
      welcome(frame)
      break
    case 'svc-open-app':
      if (frame.mayOpen()) openApp(text(message['slug'], 63), pathOf(message['path']))
      break
    case 'svc-title':
      change(frame.window, { title: text(message['title'], 200) })
      break
    case 'svc-notify':
      if (text(message['title'], 200) !== '' && frame.mayNotify())
        notify(slug, text(message['title'], 200), text(message['text'], 1_000))
      break
    case 'svc-close':
      void closeAsking(frame.window)
      break
    default:
      // What is not of the protocol concerns nobody.
      break
  }
}

/** Paths of the service, as its grammar has them; anything else is the root. */
function pathOf(value: unknown): string {
  const path = text(value, 4_096)
  const isSound = path.startsWith('/') && !/[\p{Cc}\\]/u.test(path) && path.isWellFormed()
  return isSound && !path.split('/').some((part) => part === '.' || part === '..') ? path : '/'
}

// Frames have no origin, so what says who speaks is the window: that of an app's frame, not of one inside it nor one it opened.
addEventListener('message', ({ source, origin, data }: MessageEvent<unknown>) => {
  const frame = [...frames].find(({ element }) => element.contentWindow === source)
  if (!frame || source === null || origin !== 'null') return
  if (!frame.mayTalk()) silence(frame)
  else if (typeof data === 'object' && data !== null) hear(frame, data as Record<string, unknown>)
})

/** A click into a frame takes the focus, and nothing else tells of it. */
addEventListener('blur', () => {
  setTimeout(() => {
    const frame = [...frames].find(({ element }) => element === document.activeElement)
    if (frame) raise(frame.window)
  })
})

/** Tells an open app of a new path to show. */
export function tellPath(window: number, path: string): void {
  const frame = [...frames].find((one) => one.window === window)
  frame?.element.contentWindow?.postMessage({ type: 'svc-path', path }, '*')
}
