import { signal } from '@preact/signals'
import type { ActionName, AnswerOf, ParamsOf } from '../wire/actions.ts'
import type {
  Change,
  ComponentsState,
  Failure,
  FromApp,
  Person,
  Preferences,
  Surroundings,
  Theme,
  ToApp,
  Trial,
  TriedComponent,
  Welcome,
} from '../wire/protocol.ts'
import { keyName } from './key-name.ts'
import { language } from './language.ts'
import { Trouble } from './trouble.ts'

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
export type Watcher = (changes: readonly Change[], reset: boolean) => void

/** What became of a component that is tried out, and the answers of its hooks as JSON. */
export interface TrialState {
  state: 'running' | Failure
  answers: Readonly<Record<string, string>>
}

interface Waiting extends Pick<CallOptions, 'onProgress' | 'onEvent'> {
  resolve: (value: never) => void
  reject: (error: unknown) => void
  forget: () => void
}

let port: MessagePort | undefined
let number = 0
const waiting = new Map<number, Waiting>()
const watchers = new Map<Watcher, readonly string[]>()
const shownPath = signal('/')
const isOnline = signal(true)
const shownTheme = signal<Theme>('light')
const person = signal<Person | undefined>(undefined)
const trial = signal<TrialState | undefined>(undefined)
let trials = 0
const componentsState = signal<ComponentsState>({ safe: false, active: [], off: [] })
const chosen = signal<Preferences>({ theme: 'system', language: 'system', wallpaper: '' })

const toDesktop = (message: object): void => parent.postMessage(message, '*')
/** What is said before the desktop has answered. */
const unsaid: FromApp[] = []

function say(message: FromApp): void {
  if (port) port.postMessage(message)
  else unsaid.push(message)
}

function ask<T>(message: (id: number) => FromApp, { signal: stop, ...hearing }: CallOptions = {}): Promise<T> {
  const id = ++number
  return new Promise<T>((resolve, reject) => {
    if (stop?.aborted) return reject(stop.reason as Error)
    const cancel = () => {
      if (!waiting.delete(id)) return
      say({ type: 'cancel', id })
      reject(stop!.reason as Error)
    }
    // A signal may outlive thousands of calls: what has its answer lets go of it.
    const forget = () => stop?.removeEventListener('abort', cancel)
    waiting.set(id, { ...hearing, resolve: resolve as never, reject, forget })
    stop?.addEventListener('abort', cancel)
    say(message(id))
  })
}

function settle(id: number): Waiting | undefined {
  const one = waiting.get(id)
  waiting.delete(id)
  one?.forget()
  return one
}

function hear(message: ToApp): void {
  switch (message.type) {
    case 'answer':
      settle(message.id)?.resolve(message.result as never)
      break
    case 'failed':
      settle(message.id)?.reject(new Trouble(message.fault))
      break
    case 'progress':
      waiting.get(message.id)?.onProgress?.(message.sent, message.total)
      break
    case 'event':
      waiting.get(message.id)?.onEvent?.(message.event, message.data)
      break
    case 'changes':
      for (const [watcher, tables] of watchers) {
        const changes = message.changes.filter(({ table }) => tables.includes(table))
        if (message.reset || changes.length > 0) watcher(changes, message.reset)
      }
      break
    case 'tried':
      if (message.id === trials) trial.value = afterTrial(trial.value, message.trial)
      break
    case 'components':
      componentsState.value = message
      break
    case 'surroundings':
      fitIn(message)
      break
    case 'preferences':
      chosen.value = message.preferences
      break
    default:
      // A newer desktop may say more.
      break
  }
}

function afterTrial(before: TrialState | undefined, said: Trial): TrialState {
  const { state = 'running', answers = {} } = before ?? {}
  if (said.kind === 'running') return { state, answers }
  if (said.kind === 'answered') return { state, answers: { ...answers, [said.hook]: said.json } }
  return { state: said, answers }
}

function fitIn(surroundings: Surroundings): void {
  shownTheme.value = surroundings.theme
  language.value = surroundings.language
  isOnline.value = surroundings.online
  document.documentElement.dataset['theme'] = surroundings.theme
  document.documentElement.lang = surroundings.language
}

/** Combinations that belong to the desktop wherever the focus is. */
const isForDesktop = (event: KeyboardEvent): boolean =>
  ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === 'k') ||
  (event.ctrlKey && event.altKey && !event.metaKey && event.key !== 'Control' && event.key !== 'Alt') ||
  event.key === 'F6'

/** Resolves with the name of the app when the desktop has answered; what was asked of it before waits until then. */
function meet(): Promise<string> {
  const started = new URLSearchParams(location.hash.slice(1))
  fitIn({
    theme: started.get('theme') === 'dark' ? 'dark' : 'light',
    language: started.get('language') === 'de' ? 'de' : 'en',
    online: true,
  })
  addEventListener('keydown', (event) => {
    if (!isForDesktop(event)) return
    event.preventDefault()
    say({ type: 'key', key: keyName(event) })
  })
  return new Promise((resolve) => {
    addEventListener('message', (event: MessageEvent<Welcome | { type: 'svc-path'; path: string }>) => {
      if (event.source !== parent) return
      if (event.data?.type === 'svc-path') shownPath.value = event.data.path
      if (event.data?.type !== 'svc-welcome' || port) return
      const { slug, user, preferences, path } = event.data
      fitIn(event.data)
      person.value = user
      if (preferences) chosen.value = preferences
      shownPath.value = path
      port = event.ports[0]
      if (port) port.onmessage = ({ data }: MessageEvent<ToApp>) => hear(data)
      unsaid.splice(0).forEach(say)
      resolve(slug)
    })
    toDesktop({ type: 'svc-ready' })
  })
}

let met: Promise<string> | undefined

/** The same, however often it is asked. */
export const connect = (): Promise<string> => (met ??= meet())

/** The desktop, as an app of the package sees it. */
export const bridge = {
  /** Calls an action of the contract. Throws `Trouble`; an expired session is not one: the call waits until somebody signed in again. */
  call<N extends ActionName>(action: N, params: ParamsOf<N>, options: CallOptions = {}): Promise<AnswerOf<N>> {
    const { body, name } = options
    const sent = { ...(body ? { body } : {}), ...(name === undefined ? {} : { name }) }
    return ask((id) => ({ type: 'call', id, action, params, ...sent }), options)
  },
  /** Has the browser save what an action answers, whatever its size. */
  download<N extends ActionName>(action: N, params: ParamsOf<N>): void {
    say({ type: 'download', action, params })
  },
  /** Hears of every change of these tables, until the function answered is called. */
  watch(tables: readonly string[], watcher: Watcher): () => void {
    watchers.set(watcher, tables)
    const tell = () => say({ type: 'watch', tables: [...new Set([...watchers.values()].flat())] })
    tell()
    return () => {
      watchers.delete(watcher)
      tell()
    }
  },
  /** Opens another app. */
  open: (slug: string, path = '/') => toDesktop({ type: 'svc-open-app', slug, path }),
  title: (title: string) => toDesktop({ type: 'svc-title', title }),
  /** Says something that matters also when this window is not looked at. */
  notify: (title: string, text = '') => toDesktop({ type: 'svc-notify', title, text }),
  close: () => toDesktop({ type: 'svc-close' }),
  /** Says that there is something to look at, or that there never will be. */
  began: (well: boolean) => say({ type: 'began', well }),
  /** Opens an address of the web or of e-mail in a tab of its own. */
  link: (url: string) => say({ type: 'link', url }),
  /** Whether closing the window would lose something: then it is asked about. */
  unsaved: (unsaved: boolean) => say({ type: 'unsaved', unsaved }),
  /** Keeps a text in this browser, over a reload; null forgets it. */
  keep: (key: string, value: string | null) => say({ type: 'keep', key, value }),
  kept: (key: string) => ask<string | null>((id) => ({ type: 'kept', id, key })),
  /** Changes how the desktop looks in this browser; for apps that are for that. */
  prefer: (preferences: Partial<Preferences>) => say({ type: 'prefer', preferences }),
  /** Has the desktop ask again which apps there are. */
  refreshApps: () => say({ type: 'refresh-apps' }),
  /** Runs a component on the desktop without saving it, until null is tried or the window closes. */
  tryOut(component: TriedComponent | null): void {
    trial.value = undefined
    say({ type: 'try', id: ++trials, component })
  },
  /** What became of it; undefined before anything is known. */
  trial,
  /** Lets a component begin again that the desktop switched off. */
  switchOn: (component_id: string) => say({ type: 'switch-on', component_id }),
  /** How components fare on the desktop; only for apps that may look after them. */
  components: componentsState,
  reloadApp: (slug: string) => say({ type: 'reload-app', slug }),
  signOut: () => say({ type: 'sign-out' }),
  /** Has the desktop ask again who is signed in. */
  refreshUser: () => say({ type: 'refresh-user' }),
  /** What the desktop was asked to show here; changes when it is asked again. */
  path: shownPath,
  online: isOnline,
  theme: shownTheme,
  user: person,
  preferences: chosen,
} as const
