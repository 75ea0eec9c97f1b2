import { effect } from '@preact/signals'
import { explain, Trouble } from '../kit/trouble.ts'
import { language } from '../kit/language.ts'
import { toast } from '../kit/toast.tsx'
import type { ActionName } from '../wire/actions.ts'
import type { FromApp, SentFault, Surroundings, ToApp, TriedComponent, Welcome } from '../wire/protocol.ts'
import { appsChanged, refreshApps } from './apps.ts'
import { componentsChanged, componentsState, switchOn, tryOut } from './components/components.ts'
import { readStored, store } from './stored.ts'
import { online, onChanges } from './feed.ts'
import { makeFlood } from './flood.ts'
import { grants, type DesktopChange } from './grants.ts'
import { press } from './keys.ts'
import { prefer, preferences, theme } from './preferences.ts'
import { addressOf, isAction, isChange, isDownload } from './server.ts'
import { call, refreshUser, signOut, user } from './session.ts'
import { change, reloadApp, type AppWindow } from './windows.ts'

interface Granted {
  actions: readonly ActionName[]
  tables: readonly string[]
  desktop: true | readonly DesktopChange[]
  components: boolean
}

/** What an app may; one without a grant may nothing. */
function grantOf(slug: string): Granted {
  const {
    actions = [],
    tables = [],
    desktop = [],
    components = false,
  } = Object.hasOwn(grants, slug) ? grants[slug]! : {}
  return { actions, tables, desktop, components }
}

/** Most calls of an app that run at once: a browser has few connections, and the desktop needs some itself. */
const MOST_CALLS = 100
/** Most messages of an app in a second. */
const MOST_MESSAGES = 2_000

/** Most characters of a draft that are kept for an app. */
const LONGEST_DRAFT = 1_000_000

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const forbidden = (): Trouble => new Trouble({ code: 'forbidden', message: 'The app may not do this.' })

/** Tables that a call of the row actions speaks of; undefined for what is not understood. */
function tablesIn(params: Record<string, unknown>): string[] | undefined {
  if (typeof params['tables'] === 'string') return params['tables'].split(',')
  const operations: unknown = params['operations']
  if (!Array.isArray(operations)) return undefined
  return operations.map((operation: unknown) => (isRecord(operation) ? String(operation['table']) : ''))
}

/** What an app gets to hear about how the desktop is at the moment. */
export const surroundings = (): Surroundings => ({ theme: theme.value, language: language.value, online: online.value })

/** The welcome of an app of the package, with everything it needs to begin. */
export const fullWelcome = ({ slug, path }: AppWindow): Welcome => ({
  type: 'svc-welcome',
  slug,
  path,
  ...surroundings(),
  user: user.value!,
  preferences: preferences.value,
})

/** Has the desktop take up at once what an app changed of it. */
function follow(action: ActionName): void {
  if (action.startsWith('desktopComponents.')) componentsChanged()
  else if (action.startsWith('apps.') || action === 'admin.enable_app' || action === 'admin.disable_app')
    void appsChanged().catch(tellTrouble)
}

/** The calls of an app: each is checked against the grant, and those that run end with the window. */
function makeCalls({ actions, tables }: Granted, send: (message: ToApp) => void) {
  const running = new Map<number, AbortController>()

  function refuse(action: unknown, params: unknown): asserts params is Record<string, unknown> {
    if (!isAction(action) || !actions.includes(action) || !isRecord(params)) throw forbidden()
    if (!action.startsWith('rows.')) return
    const spoken = tablesIn(params)
    if (!spoken?.every((table) => tables.includes(table))) throw forbidden()
  }

  return {
    async answer({ id, action, params, body, name }: Extract<FromApp, { type: 'call' }>): Promise<void> {
      const stop = new AbortController()
      try {
        refuse(action, params)
        if (running.size >= MOST_CALLS) throw new Trouble({ code: 'busy', message: 'Too many calls at once.' })
        running.set(id, stop)
        const result = await call(action, params as never, {
          signal: stop.signal,
          body: body instanceof Blob ? body : undefined,
          name: typeof name === 'string' ? name : undefined,
          onProgress: (sent, total) => send({ type: 'progress', id, sent, total }),
          onEvent: (event, data) => send({ type: 'event', id, event, data }),
        })
        if (isChange(action)) follow(action)
        send({ type: 'answer', id, result })
      } catch (error) {
        if (!stop.signal.aborted) send({ type: 'failed', id, fault: sentFault(error) })
      } finally {
        if (running.get(id) === stop) running.delete(id)
      }
    },
    cancel: (id: number) => running.get(id)?.abort(),
    end: () => running.forEach((stop) => stop.abort(new Error('The window was closed.'))),
  }
}

/** Longest code that is tried out, in characters; the server counts bytes. */
const LONGEST_CODE = 102_400

const isTriable = (value: unknown): value is TriedComponent =>
  isRecord(value) &&
  typeof value['component_id'] === 'string' &&
  ['css', 'js', 'widget'].includes(String(value['component_type'])) &&
  typeof value['code'] === 'string' &&
  value['code'].length <= LONGEST_CODE &&
  isRecord(value['metadata'])

/** What an app may change of the desktop itself, where its grant says so. */
function changeDesktop(message: FromApp): void {
  if (message.type === 'prefer' && isRecord(message.preferences)) prefer(message.preferences)
  else if (message.type === 'refresh-apps') void refreshApps().catch(tellTrouble)
  else if (message.type === 'reload-app') reloadApp(String(message.slug))
  else if (message.type === 'sign-out') void signOut()
  else if (message.type === 'refresh-user') void refreshUser().catch(tellTrouble)
}

const draftKey = (slug: string, key: unknown): string =>
  `svc.draft.${user.value?.id}.${slug}.${String(key).slice(0, 100)}`

/** Keeps a text for an app, or forgets it. */
function keep(slug: string, key: unknown, value: unknown): void {
  const isKept = typeof value === 'string' && value.length <= LONGEST_DRAFT
  store(draftKey(slug, key), isKept ? value : undefined)
}

/** What the desktop is told of an app while it is served. */
interface Told {
  /** Whether it got as far as showing something. */
  onBegan: (well: boolean) => void
  /** There is no end of messages. */
  onFlood: () => void
}

/**
 * Serves an app of the package over its port: only the actions and tables of its grant. Answers a function that ends it.
 * What comes over the port is checked like anything from outside: a text that got into an app must not get further.
 */
export function serve(port: MessagePort, { id: window, slug }: AppWindow, { onBegan, onFlood }: Told): () => void {
  const grant = grantOf(slug)
  const { actions, tables } = grant
  let watched: string[] = []
  const send = (message: ToApp): void => port.postMessage(message)
  const calls = makeCalls(grant, send)
  const mayTalk = makeFlood(MOST_MESSAGES, 1_000)
  let endTrial = (): void => {}
  const stops = [
    () => endTrial(),
    onChanges((changes, reset) => {
      const wanted = changes.filter(({ table }) => watched.includes(table))
      if (watched.length > 0 && (reset || wanted.length > 0)) send({ type: 'changes', changes: wanted, reset })
    }),
    effect(() => send({ type: 'surroundings', ...surroundings() })),
    effect(() => send({ type: 'preferences', preferences: preferences.value })),
    effect(() => void (grant.components && send({ type: 'components', ...componentsState.value }))),
  ]

  port.onmessage = ({ data }: MessageEvent<FromApp>) => {
    if (!mayTalk()) onFlood()
    else if (isRecord(data)) hear(data)
  }

  function hear(data: FromApp): void {
    switch (data.type) {
      case 'call':
        void calls.answer(data)
        break
      case 'cancel':
        calls.cancel(data.id)
        break
      case 'download':
        if (isAction(data.action) && actions.includes(data.action) && isDownload(data.action) && isRecord(data.params))
          save(addressOf(data.action, data.params))
        break
      case 'watch':
        watched = Array.isArray(data.tables) ? data.tables.filter((table) => tables.includes(table)) : []
        break
      case 'keep':
        keep(slug, data.key, data.value)
        break
      case 'kept':
        send({ type: 'answer', id: data.id, result: readStored<string | null>(draftKey(slug, data.key), null) })
        break
      case 'began':
        onBegan(data.well === true)
        break
      case 'unsaved':
        change(window, { unsaved: data.unsaved === true })
        break
      case 'link':
        openLink(data.url)
        break
      case 'try':
        endTrial()
        if (grant.components && isTriable(data.component))
          endTrial = tryOut(data.component, (trial) => send({ type: 'tried', id: Number(data.id), trial }))
        break
      case 'switch-on':
        if (grant.components) switchOn(String(data.component_id))
        break
      case 'key':
        press(String(data.key))
        break
      default:
        if (grant.desktop === true || grant.desktop.includes(data.type)) changeDesktop(data)
    }
  }

  return () => {
    for (const stop of stops) stop()
    calls.end()
    port.onmessage = null
    port.close()
  }
}

function sentFault(error: unknown): SentFault {
  if (!(error instanceof Trouble)) return { code: 'unknown', message: '' }
  const { code, message, fields, retryAfter } = error
  return { code, message, fields, ...(retryAfter === undefined ? {} : { retryAfter }) }
}

const tellTrouble = (error: unknown): void => toast(explain(error), { tone: 'bad' })

function save(address: string): void {
  const link = document.createElement('a')
  link.href = address
  link.download = ''
  link.click()
}

/** Opens an address of the web or of e-mail in a tab that knows nothing of this one. */
function openLink(address: unknown): void {
  const url = URL.parse(String(address))
  if (url && ['http:', 'https:', 'mailto:', 'tel:'].includes(url.protocol))
    open(url.href, '_blank', 'noopener,noreferrer')
}
