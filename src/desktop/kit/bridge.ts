import { signal } from '@preact/signals'
import type { ActionName, AnswerOf, ParamsOf } from '../wire/actions.ts'
import type {
  Change,
  ComponentsState,
  Failure,
  AppMessage,
  Person,
  Preferences,
  Surroundings,
  Theme,
  DesktopMessage,
  PreviewEvent,
  PreviewedComponent,
  Welcome,
} from '../wire/protocol.ts'
import { keyName } from './key-name.ts'
import { language } from './language.ts'
import { ApiError } from './api-error.ts'

export interface CallOptions {
  signal?: AbortSignal
  /** What an upload sends, with the name it is stored under. */
  body?: Blob
  name?: string
  /** Bytes sent so far, and in all. */
  onProgress?: (sent: number, total: number) => void
  /** What a stream tells before its answer, with `stream` among the parameters: the name of each event, and what it says. */
  onEvent?: (event: string, data: unknown) => void
}

/** News of the feed; `reset` says that some are missing and everything has to be asked for again. */
export type ChangeListener = (changes: readonly Change[], reset: boolean) => void

/** What became of a component that is tried out, and the answers of its hooks as JSON. */
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

const postToDesktop = (message: object): void => parent.postMessage(message, '*')
/** What is said before the desktop has answered. */
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
    // A signal may outlive thousands of calls: what has its answer lets go of it.
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
      applySurroundings(message)
      break
    case 'preferences':
      currentPreferences.value = message.preferences
      break
    default:
      // A newer desktop may say more.
      break
  }
}

function applyPreviewEvent(before: PreviewState | undefined, event: PreviewEvent): PreviewState {
  const { state = 'running', answers = {} } = before ?? {}
  if (event.kind === 'running') return { state, answers }
  if (event.kind === 'answered') return { state, answers: { ...answers, [event.hook]: event.json } }
  return { state: event, answers }
}

function applySurroundings(surroundings: Surroundings): void {
  currentTheme.value = surroundings.theme
  language.value = surroundings.language
  isOnline.value = surroundings.online
  document.documentElement.dataset['theme'] = surroundings.theme
  document.documentElement.lang = surroundings.language
}

/** Combinations that belong to the desktop wherever the focus is. */
const isDesktopShortcut = (event: KeyboardEvent): boolean =>
  ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === 'k') ||
  (event.ctrlKey && event.altKey && !event.metaKey && event.key !== 'Control' && event.key !== 'Alt') ||
  event.key === 'F6'

/** Resolves with the name of the app when the desktop has answered; what was asked of it before waits until then. */
function handshake(): Promise<string> {
  const hash = new URLSearchParams(location.hash.slice(1))
  applySurroundings({
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
    addEventListener('message', (event: MessageEvent<Welcome | { type: 'svc-path'; path: string }>) => {
      if (event.source !== parent) return
      if (event.data?.type === 'svc-path') requestedPath.value = event.data.path
      if (event.data?.type !== 'svc-welcome' || port) return
      const { slug, user, preferences, path } = event.data
      applySurroundings(event.data)
      currentUser.value = user
      if (preferences) currentPreferences.value = preferences
      requestedPath.value = path
      port = event.ports[0]
      if (port) port.onmessage = ({ data }: MessageEvent<DesktopMessage>) => receive(data)
      outbox.splice(0).forEach(send)
      resolve(slug)
    })
    postToDesktop({ type: 'svc-ready' })
  })
}

let connection: Promise<string> | undefined

/** The same, however often it is asked. */
export const connect = (): Promise<string> => (connection ??= handshake())

/** The desktop, as an app of the package sees it. */
export const bridge = {
  /** Calls an action of the contract. Throws `ApiError`; an expired session is not one: the call waits until somebody signed in again. */
  call<N extends ActionName>(action: N, params: ParamsOf<N>, options: CallOptions = {}): Promise<AnswerOf<N>> {
    const { body, name } = options
    const sent = { ...(body ? { body } : {}), ...(name === undefined ? {} : { name }) }
    return request((id) => ({ type: 'call', id, action, params, ...sent }), options)
  },
  /** Has the browser save what an action answers, whatever its size. */
  download<N extends ActionName>(action: N, params: ParamsOf<N>): void {
    send({ type: 'download', action, params })
  },
  /** Hears of every change of these tables, until the function answered is called. */
  watch(tables: readonly string[], listener: ChangeListener): () => void {
    listeners.set(listener, tables)
    const update = () => send({ type: 'watch', tables: [...new Set([...listeners.values()].flat())] })
    update()
    return () => {
      listeners.delete(listener)
      update()
    }
  },
  /** Opens another app. */
  open: (slug: string, path = '/') => postToDesktop({ type: 'svc-open-app', slug, path }),
  setTitle: (title: string) => postToDesktop({ type: 'svc-title', title }),
  /** Says something that matters also when this window is not looked at. */
  notify: (title: string, text = '') => postToDesktop({ type: 'svc-notify', title, text }),
  close: () => postToDesktop({ type: 'svc-close' }),
  /** Says that there is something to look at, or that there never will be. */
  reportStart: (ok: boolean) => send({ type: 'started', ok }),
  /** Opens an address of the web or of e-mail in a tab of its own. */
  openLink: (url: string) => send({ type: 'open-link', url }),
  /** Whether closing the window would lose something: then it is asked about. */
  setUnsaved: (unsaved: boolean) => send({ type: 'unsaved', unsaved }),
  /** Says what is shown, as a path that shows it again. */
  setLocation: (path: string) => send({ type: 'location', path }),
  /** Keeps a text in this browser, over a reload; null forgets it. */
  setItem: (key: string, value: string | null) => send({ type: 'set-item', key, value }),
  getItem: (key: string) => request<string | null>((id) => ({ type: 'get-item', id, key })),
  /** Changes how the desktop looks in this browser; for apps that are for that. */
  setPreferences: (preferences: Partial<Preferences>) => send({ type: 'set-preferences', preferences }),
  /** Has the desktop ask again which apps there are. */
  refreshApps: () => send({ type: 'refresh-apps' }),
  /** Runs a component on the desktop without saving it, until null is tried or the window closes. */
  previewComponent(component: PreviewedComponent | null): void {
    previewState.value = undefined
    send({ type: 'preview', id: ++lastPreviewId, component })
  },
  /** What became of it; undefined before anything is known. */
  previewState,
  /** Lets a component begin again that the desktop switched off. */
  restartComponent: (component_id: string) => send({ type: 'restart-component', component_id }),
  /** How components fare on the desktop; only for apps that may look after them. */
  components: componentsState,
  reloadApp: (slug: string) => send({ type: 'reload-app', slug }),
  signOut: () => send({ type: 'sign-out' }),
  /** Has the desktop ask again who is signed in. */
  refreshUser: () => send({ type: 'refresh-user' }),
  /** What the desktop was asked to show here; changes when it is asked again. */
  path: requestedPath,
  online: isOnline,
  theme: currentTheme,
  user: currentUser,
  preferences: currentPreferences,
} as const
