import { signal } from '@preact/signals'
import type { ActionName, AnswerOf, ParamsOf } from '../wire/actions.ts'
import type {
  Change,
  ComponentsState,
  Failure,
  AppMessage,
  Person,
  Preferences,
  DesktopState,
  Theme,
  DesktopMessage,
  PreviewEvent,
  PreviewedComponent,
  WelcomeMessage,
} from '../wire/protocol.ts'
import { backLevels, goBack } from './back-levels.ts'
import { keyName } from './key-name.ts'
import { language } from './language.ts'
import { ApiError } from './api-error.ts'

export interface CallOptions {
  signal?: AbortSignal
  /** The body of an upload; it is stored as `name`. */
  body?: Blob
  name?: string
  /** Bytes. */
  onProgress?: (sent: number, total: number) => void
  /** Receives the events of a streamed response (with the parameter `stream`). */
  onEvent?: (event: string, data: unknown) => void
}

/** Receives changes of the feed. After `reset`, changes may be missing: load everything again. */
export type ChangeListener = (changes: readonly Change[], reset: boolean) => void

/** State of a component preview, and the results of its hooks as JSON. */
export interface PreviewState {
  state: 'running' | Failure
  answers: Readonly<Record<string, string>>
}

interface PendingCall extends Pick<CallOptions, 'onProgress' | 'onEvent'> {
  resolve: (value: never) => void
  reject: (error: unknown) => void
  dispose: () => void
}

let port: MessagePort | undefined
let lastCallId = 0
const pendingCalls = new Map<number, PendingCall>()
const listeners = new Map<ChangeListener, readonly string[]>()
const requestedPath = signal('/')
const isOnline = signal(true)
const currentTheme = signal<Theme>('light')
const currentUser = signal<Person | undefined>(undefined)
const previewState = signal<PreviewState | undefined>(undefined)
let lastPreviewId = 0
const componentsState = signal<ComponentsState>({ safe: false, active: [], stopped: [] })
const currentPreferences = signal<Preferences>({ theme: 'system', language: 'system', wallpaper: '' })

type ToApp = WelcomeMessage | { type: 'svc-path'; path: string } | { type: 'svc-back' }

const postToDesktop = (message: object): void => parent.postMessage(message, '*')
/** Messages sent before the handshake. */
const outbox: AppMessage[] = []

function send(message: AppMessage): void {
  if (port) port.postMessage(message)
  else outbox.push(message)
}

function request<T>(
  message: (id: number) => AppMessage,
  { signal: abortSignal, ...handlers }: CallOptions = {},
): Promise<T> {
  const id = ++lastCallId
  return new Promise<T>((resolve, reject) => {
    if (abortSignal?.aborted) return reject(abortSignal.reason as Error)
    const cancel = () => {
      if (!pendingCalls.delete(id)) return
      send({ type: 'cancel', id })
      reject(abortSignal!.reason as Error)
    }
    // A signal may outlive thousands of calls: remove the listener when a call ends.
    const dispose = () => abortSignal?.removeEventListener('abort', cancel)
    pendingCalls.set(id, { ...handlers, resolve: resolve as never, reject, dispose })
    abortSignal?.addEventListener('abort', cancel)
    send(message(id))
  })
}

function takePending(id: number): PendingCall | undefined {
  const call = pendingCalls.get(id)
  pendingCalls.delete(id)
  call?.dispose()
  return call
}

function receive(message: DesktopMessage): void {
  switch (message.type) {
    case 'answer':
      takePending(message.id)?.resolve(message.result as never)
      break
    case 'failed':
      takePending(message.id)?.reject(new ApiError(message.error))
      break
    case 'progress':
      pendingCalls.get(message.id)?.onProgress?.(message.sent, message.total)
      break
    case 'event':
      pendingCalls.get(message.id)?.onEvent?.(message.event, message.data)
      break
    case 'changes':
      for (const [listener, tables] of listeners) {
        const changes = message.changes.filter(({ table }) => tables.includes(table))
        if (message.reset || changes.length > 0) listener(changes, message.reset)
      }
      break
    case 'preview-event':
      if (message.id === lastPreviewId) previewState.value = applyPreviewEvent(previewState.value, message.event)
      break
    case 'components':
      componentsState.value = message
      break
    case 'surroundings':
      applyDesktopState(message)
      break
    case 'preferences':
      currentPreferences.value = message.preferences
      break
    default:
      // A newer desktop may send unknown messages.
      break
  }
}

function applyPreviewEvent(before: PreviewState | undefined, event: PreviewEvent): PreviewState {
  const { state = 'running', answers = {} } = before ?? {}
  if (event.kind === 'running') return { state, answers }
  if (event.kind === 'answered') return { state, answers: { ...answers, [event.hook]: event.json } }
  return { state: event, answers }
}

function applyDesktopState(state: DesktopState): void {
  currentTheme.value = state.theme
  language.value = state.language
  isOnline.value = state.online
  document.documentElement.dataset['theme'] = state.theme
  document.documentElement.lang = state.language
}

/** Shortcuts of the desktop, which work in every window. */
const isDesktopShortcut = (event: KeyboardEvent): boolean =>
  ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === 'k') ||
  (event.ctrlKey && event.altKey && !event.metaKey && event.key !== 'Control' && event.key !== 'Alt') ||
  event.key === 'F6'

/** Connects to the desktop. Resolves with the slug of the app; messages sent before that are queued. */
function handshake(): Promise<string> {
  const hash = new URLSearchParams(location.hash.slice(1))
  applyDesktopState({
    theme: hash.get('theme') === 'dark' ? 'dark' : 'light',
    language: hash.get('language') === 'de' ? 'de' : 'en',
    online: true,
  })
  addEventListener('keydown', (event) => {
    if (!isDesktopShortcut(event)) return
    event.preventDefault()
    send({ type: 'key', key: keyName(event) })
  })
  return new Promise((resolve) => {
    addEventListener('message', (event: MessageEvent<ToApp>) => {
      if (event.source !== parent) return
      if (event.data?.type === 'svc-back') goBack()
      if (event.data?.type === 'svc-path') {
        // A path that is requested again is opened again.
        requestedPath.value = '/'
        requestedPath.value = event.data.path
      }
      if (event.data?.type !== 'svc-welcome' || port) return
      const { slug, user, preferences, path } = event.data
      applyDesktopState(event.data)
      currentUser.value = user
      if (preferences) currentPreferences.value = preferences
      requestedPath.value = path
      port = event.ports[0]
      if (port) port.onmessage = ({ data }: MessageEvent<DesktopMessage>) => receive(data)
      outbox.splice(0).forEach(send)
      // Views are often replaced in two steps.
      backLevels.subscribe(() => queueMicrotask(() => send({ type: 'back-levels', count: backLevels.peek() })))
      resolve(slug)
    })
    postToDesktop({ type: 'svc-ready' })
  })
}

let isUnsaved = false
let unsavedRuns = 0
/** Drafts by key that the browser refused to store: closing the window would lose them. */
const unstoredDrafts = new Map<string, string>()
const hasUnstoredDrafts = signal(false)
const reportUnsaved = (): void =>
  send({ type: 'unsaved', unsaved: isUnsaved || unsavedRuns > 0 || unstoredDrafts.size > 0 })

let connection: Promise<string> | undefined

export const connect = (): Promise<string> => (connection ??= handshake())

/** The desktop's API for built-in apps. */
export const bridge = {
  /** Throws `ApiError`, except for an expired session: then the call waits for the next sign-in. */
  call<N extends ActionName>(action: N, params: ParamsOf<N>, options: CallOptions = {}): Promise<AnswerOf<N>> {
    const { body, name } = options
    const sent = { ...(body ? { body } : {}), ...(name === undefined ? {} : { name }) }
    return request((id) => ({ type: 'call', id, action, params, ...sent }), options)
  },
  /** Saves the response of an action as a file, of any size. */
  download<N extends ActionName>(action: N, params: ParamsOf<N>): void {
    send({ type: 'download', action, params })
  },
  /** Subscribes to changes of tables; returns a function that unsubscribes. */
  watch(tables: readonly string[], listener: ChangeListener): () => void {
    listeners.set(listener, tables)
    const update = () => send({ type: 'watch', tables: [...new Set([...listeners.values()].flat())] })
    update()
    return () => {
      listeners.delete(listener)
      update()
    }
  },
  open: (slug: string, path = '/') => postToDesktop({ type: 'svc-open-app', slug, path }),
  setTitle: (title: string) => postToDesktop({ type: 'svc-title', title }),
  /** Shows a notification, also while the window is in the background. */
  notify: (title: string, text = '') => postToDesktop({ type: 'svc-notify', title, text }),
  close: () => postToDesktop({ type: 'svc-close' }),
  /** Reports that the app has rendered, or that it failed to load. */
  reportStart: (ok: boolean) => send({ type: 'started', ok }),
  /** Opens a web or e-mail address in a new tab. */
  openLink: (url: string) => send({ type: 'open-link', url }),
  /** Whether closing the window would lose data; then the desktop asks first. */
  setUnsaved(unsaved: boolean): void {
    isUnsaved = unsaved
    reportUnsaved()
  },
  /** Runs what closing the window would interrupt. */
  async whileUnsaved<T>(run: () => Promise<T>): Promise<T> {
    unsavedRuns++
    reportUnsaved()
    try {
      return await run()
    } finally {
      unsavedRuns--
      reportUnsaved()
    }
  },
  /** Reports the current view as a path that restores it after a reload. */
  setLocation: (path: string) => send({ type: 'location', path }),
  /** Stores a text in this browser; null deletes it. */
  setItem: (key: string, value: string | null) => send({ type: 'set-item', key, value }),
  /**
   * Stores a draft of this window, or removes it; it survives the window. One for which the browser's storage has no room
   * is kept while the window is open, and closing it asks.
   */
  async keepDraft(key: string, text: string | null): Promise<void> {
    const isStored = await request<boolean>((id) => ({ type: 'keep-draft', id, key, text }))
    if (text !== null && !isStored) unstoredDrafts.set(key, text)
    else if (!unstoredDrafts.delete(key)) return
    hasUnstoredDrafts.value = unstoredDrafts.size > 0
    reportUnsaved()
  },
  /** Whether there are drafts that the browser could not store. */
  hasUnstoredDrafts,
  /** Drafts whose keys begin with a text: of this window, and of closed windows of the app. */
  async restoreDrafts(prefix: string): Promise<Map<string, string>> {
    const stored = await request<[string, string][]>((id) => ({ type: 'restore-drafts', id, prefix }))
    return new Map([...stored, ...[...unstoredDrafts].filter(([key]) => key.startsWith(prefix))])
  },
  getItem: (key: string) => request<string | null>((id) => ({ type: 'get-item', id, key })),
  /** Changes preferences of this browser. */
  setPreferences: (preferences: Partial<Preferences>) => send({ type: 'set-preferences', preferences }),
  refreshApps: () => send({ type: 'refresh-apps' }),
  /** Runs a component on the desktop without saving it, until it is replaced by null or the window closes. */
  previewComponent(component: PreviewedComponent | null): void {
    previewState.value = undefined
    send({ type: 'preview', id: ++lastPreviewId, component })
  },
  /** State of the preview; undefined until it is known. */
  previewState,
  restartComponent: (component_id: string) => send({ type: 'restart-component', component_id }),
  /** Running and stopped components; only for apps that may manage them. */
  components: componentsState,
  reloadApp: (slug: string) => send({ type: 'reload-app', slug }),
  signOut: () => send({ type: 'sign-out' }),
  refreshUser: () => send({ type: 'refresh-user' }),
  /** The requested path; changes with every request to show something. */
  path: requestedPath,
  online: isOnline,
  theme: currentTheme,
  user: currentUser,
  preferences: currentPreferences,
} as const
