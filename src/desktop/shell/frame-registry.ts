import { effect, untracked } from '@preact/signals'
import { toast } from '../kit/toast.tsx'
import { appBySlug, isBuiltIn } from './apps.ts'
import { welcomeMessageFor, serve, desktopState } from './broker.ts'
import { online } from './feed.ts'
import { confirmAndClose } from './unsaved-guard.ts'
import { makeMessageLimiter } from './message-limiter.ts'
import { appName } from './app-name.ts'
import { notify } from './desktop-notifications.ts'
import { updateWindow, openApp, prewarm, raise, markPrewarmed, validPath, windows } from './windows.ts'
import { words } from './words.ts'

interface Frame {
  window: number
  element: HTMLIFrameElement
  /** Address of a cross-origin app, until the wrapper page has received it. */
  address: string | undefined
  isBuiltIn: boolean
  /** Number of loads. A built-in app has one: a second page is not trusted. */
  loads: number
  /** Whether its page is loaded and waits for an app. */
  isPrewarmed: boolean
  disconnect: (() => void) | undefined
  allowMessage: () => boolean
  allowOpen: () => boolean
  allowNotification: () => boolean
  onReady: () => void
  onFailed: () => void
  /** The page has answered, even after the timeout. */
  onConnected: () => void
  onRateExceeded: () => void
}

const frames = new Set<Frame>()

/** Time from the load event to the first message of a built-in page, ms; the browser's error page sends none. */
const HANDSHAKE_TIMEOUT = 2_000

/** URL of a frame, and for cross-origin apps the address that the wrapper page loads. */
interface Source {
  src: string
  address?: string
}

/** Source of an app; undefined if its address is not allowed. */
export function sourceOf(slug: string): Source | undefined {
  const app = appBySlug(slug)
  const url = app && URL.parse(app.app_path, location.origin)
  if (!url) return undefined
  if (url.origin === location.origin)
    return url.pathname.startsWith('/apps/') ? localSource(`${url.pathname}${url.search}`) : undefined
  if (url.protocol !== 'https:') return undefined
  return { src: `/sandbox/app.html?${new URLSearchParams({ origin: url.origin })}`, address: url.href }
}

/** Disconnects an app that exceeds the message limit. */
function blockFrame(frame: Frame): void {
  const one = windows.value.find(({ id }) => id === frame.window)
  frames.delete(frame)
  frame.disconnect?.()
  frame.onRateExceeded()
  toast(words('flooded', appName(one?.slug ?? '')), { tone: 'bad' })
}

function localSource(path: string): Source {
  const { theme, language } = desktopState()
  const hash = new URLSearchParams({ theme, language })
  return { src: `${path}#${hash}` }
}

/** Source of the prewarmed frame; no app can have this slug. */
export const prewarmedSource = () => localSource('/apps/_/index.html')

export function registerFrame(
  element: HTMLIFrameElement,
  {
    window,
    slug,
    address,
    ...callbacks
  }: { window: number; slug: string } & Pick<
    Frame,
    'address' | 'onReady' | 'onFailed' | 'onConnected' | 'onRateExceeded'
  >,
): () => void {
  const app = appBySlug(slug)
  const frame: Frame = {
    window,
    element,
    address,
    isBuiltIn: slug === '' || (app !== undefined && isBuiltIn(app)),
    isPrewarmed: false,
    loads: 0,
    disconnect: undefined,
    allowMessage: makeMessageLimiter(100, 1_000),
    allowOpen: makeMessageLimiter(5, 1_000),
    allowNotification: makeMessageLimiter(3, 10_000),
    ...callbacks,
  }
  let timer: ReturnType<typeof setTimeout> | undefined
  frames.add(frame)
  const onLoad = () => {
    frame.loads++
    if (!frame.isBuiltIn) (online.value ? frame.onReady : frame.onFailed)()
    else timer = setTimeout(() => frame.disconnect || frame.isPrewarmed || frame.onFailed(), HANDSHAKE_TIMEOUT)
    if (frame.loads > 1) frame.disconnect?.()
  }
  element.addEventListener('load', onLoad)
  return () => {
    clearTimeout(timer)
    element.removeEventListener('load', onLoad)
    frames.delete(frame)
    frame.disconnect?.()
  }
}

const clip = (value: unknown, maxLength: number): string => (typeof value === 'string' ? value.slice(0, maxLength) : '')

function sendWelcome(frame: Frame): void {
  const one = windows.value.find(({ id }) => id === frame.window)
  const target = frame.element.contentWindow
  if (!one || !target) return
  frame.onConnected()
  if (!frame.isBuiltIn) {
    frame.onReady()
    target.postMessage({ type: 'svc-welcome', slug: one.slug, path: one.path, ...desktopState() }, '*')
    frame.disconnect ??= effect(() => target.postMessage({ type: 'svc-surroundings', ...desktopState() }, '*'))
    return
  }
  // Only the page that was loaded first gets a port, once.
  if (frame.disconnect || frame.loads > 1) return
  const { port1, port2 } = new MessageChannel()
  frame.disconnect = serve(port1, one, {
    onStarted: (ok) => onStarted(frame, ok),
    onRateExceeded: () => blockFrame(frame),
  })
  target.postMessage(welcomeMessageFor(one), '*', [port2])
}

/** Delay before prewarming, ms, so that it does not compete with the app that was just opened. */
const PREWARM_DELAY = 500

export const schedulePrewarm = (): void => void setTimeout(prewarm, PREWARM_DELAY)

/** A built-in app has rendered; or it could not be loaded in the prewarmed page and gets a new frame. */
function onStarted(frame: Frame, ok: boolean): void {
  const one = windows.value.find(({ id }) => id === frame.window)
  if (ok) frame.onReady()
  else if (one) updateWindow(one.id, { reloads: one.reloads + 1 })
  schedulePrewarm()
}

// The prewarmed window got an app.
effect(() => {
  const ids = new Set(windows.value.map(({ id }) => id))
  for (const frame of frames) {
    if (!frame.isPrewarmed || !ids.has(frame.window)) continue
    frame.isPrewarmed = false
    untracked(() => sendWelcome(frame))
  }
})

/** Sends its address to the wrapper page of a cross-origin app. */
function sendExternalAddress(frame: Frame): void {
  const { address } = frame
  if (address === undefined) return
  frame.address = undefined
  frame.element.contentWindow?.postMessage({ type: 'svc-load', address }, '*')
}

function receive(frame: Frame, message: Record<string, unknown>): void {
  const slug = windows.value.find(({ id }) => id === frame.window)?.slug
  if (slug === undefined) {
    if (message['type'] !== 'svc-ready') return
    frame.isPrewarmed = true
    markPrewarmed(frame.window)
    return
  }
  switch (message['type']) {
    case 'svc-frame':
      sendExternalAddress(frame)
      break
    case 'svc-ready':
      sendWelcome(frame)
      break
    case 'svc-open-app':
      if (frame.allowOpen()) openApp(clip(message['slug'], 63), validPath(message['path']))
      break
    case 'svc-title':
      updateWindow(frame.window, { title: clip(message['title'], 200) })
      break
    case 'svc-notify':
      if (clip(message['title'], 200) !== '' && frame.allowNotification())
        notify(slug, clip(message['title'], 200), clip(message['text'], 1_000))
      break
    case 'svc-close':
      void confirmAndClose(frame.window)
      break
    default:
      // Ignore unknown messages.
      break
  }
}

// Sandboxed frames have the origin "null": identify the sender by its window. Frames inside it, and windows it opened,
// are ignored.
addEventListener('message', ({ source, origin, data }: MessageEvent<unknown>) => {
  const frame = [...frames].find(({ element }) => element.contentWindow === source)
  if (!frame || source === null || origin !== 'null') return
  if (!frame.allowMessage()) blockFrame(frame)
  else if (typeof data === 'object' && data !== null) receive(frame, data as Record<string, unknown>)
})

/** A click into a frame is visible only as a loss of focus. */
addEventListener('blur', () => {
  setTimeout(() => {
    const frame = [...frames].find(({ element }) => element === document.activeElement)
    if (frame) raise(frame.window)
  })
})

export function sendToApp(window: number, message: { type: 'svc-path'; path: string } | { type: 'svc-back' }): void {
  const frame = [...frames].find((one) => one.window === window)
  frame?.element.contentWindow?.postMessage(message, '*')
}
