import { effect } from '@preact/signals'
import { describeError, ApiError } from '../kit/api-error.ts'
import { language } from '../kit/language.ts'
import { toast } from '../kit/toast.tsx'
import type { ActionName } from '../wire/actions.ts'
import type {
  AppMessage,
  SerializedError,
  DesktopState,
  DesktopMessage,
  PreviewedComponent,
  WelcomeMessage,
} from '../wire/protocol.ts'
import { announceAppsChange, refreshApps } from './apps.ts'
import {
  announceComponentsChange,
  componentsState,
  restartComponent,
  previewComponent,
} from './components/components.ts'
import { markRoomRead } from './chat-notifications.ts'
import { openDrafts } from './draft-storage.ts'
import { readItem, writeItem } from './local-storage.ts'
import { checkConnection, online, onChanges } from './feed.ts'
import { makeMessageLimiter } from './message-limiter.ts'
import { grants, type DesktopChange } from './grants.ts'
import { runKeyBinding } from './key-bindings.ts'
import { setPreferences, preferences, theme } from './preferences.ts'
import { addressOf, isAction, isChange, isDownload } from './api-calls.ts'
import { call, refreshUser, signOut, user } from './session.ts'
import { updateWindow, reloadApp, validPath, type AppWindow } from './windows.ts'

interface ResolvedGrant {
  actions: readonly ActionName[]
  tables: readonly string[]
  desktop: true | readonly DesktopChange[]
  components: boolean
}

/** The grant of an app; empty if there is none. */
function resolveGrant(slug: string): ResolvedGrant {
  const {
    actions = [],
    tables = [],
    desktop = [],
    components = false,
  } = Object.hasOwn(grants, slug) ? grants[slug]! : {}
  return { actions, tables, desktop, components }
}

/** Concurrent calls of an app: browsers limit the connections to a server, and the desktop needs some. */
const MAX_CALLS = 100
/** Messages of an app per second. */
const MAX_MESSAGES = 2_000

/** Longest stored item of an app, characters. */
const MAX_ITEM_LENGTH = 1_000_000

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const forbidden = (): ApiError => new ApiError({ code: 'forbidden', message: 'The app may not do this.' })

/** Tables that a row action accesses; undefined for invalid parameters. */
function tablesOf(action: ActionName, { tables, operations }: Record<string, unknown>): unknown[] | undefined {
  if (action === 'rows.list') return typeof tables === 'string' ? tables.split(',') : undefined
  if (action !== 'rows.push' || !Array.isArray(operations)) return undefined
  return operations.map((operation: unknown) => (isRecord(operation) ? operation['table'] : undefined))
}

export const desktopState = (): DesktopState => ({ theme: theme.value, language: language.value, online: online.value })

export const welcomeMessageFor = ({ slug, path }: AppWindow): WelcomeMessage => ({
  type: 'svc-welcome',
  slug,
  path,
  ...desktopState(),
  user: user.value!,
  preferences: preferences.value,
})

function refreshAfter(action: ActionName, params: Record<string, unknown>): void {
  if (action === 'teamChat.read') markRoomRead(Number(params['room_id']))
  else if (action.startsWith('desktopComponents.')) announceComponentsChange()
  else if (action.startsWith('apps.') || action === 'admin.enable_app' || action === 'admin.disable_app')
    void announceAppsChange().catch(toastError)
}

/** The calls of an app. Each is checked against the grant; pending ones are aborted with the window. */
function makeCalls({ actions, tables }: ResolvedGrant, send: (message: DesktopMessage) => void) {
  const running = new Map<number, AbortController>()

  function assertGranted(action: unknown, params: unknown): asserts params is Record<string, unknown> {
    if (!isAction(action) || !actions.includes(action) || !isRecord(params)) throw forbidden()
    if (!action.startsWith('rows.')) return
    const requested = tablesOf(action, params)
    if (!requested?.every((table) => (tables as readonly unknown[]).includes(table))) throw forbidden()
  }

  return {
    async answer({ id, action, params, body, name }: Extract<AppMessage, { type: 'call' }>): Promise<void> {
      const controller = new AbortController()
      try {
        assertGranted(action, params)
        if (running.size >= MAX_CALLS) throw new ApiError({ code: 'busy', message: 'Too many calls at once.' })
        running.set(id, controller)
        const result = await call(action, params as never, {
          signal: controller.signal,
          body: body instanceof Blob ? body : undefined,
          name: typeof name === 'string' ? name : undefined,
          onProgress: (sent, total) => send({ type: 'progress', id, sent, total }),
          onEvent: (event, data) => send({ type: 'event', id, event, data }),
        })
        checkConnection()
        if (isChange(action)) refreshAfter(action, params)
        send({ type: 'answer', id, result })
      } catch (error) {
        if (!controller.signal.aborted) send({ type: 'failed', id, error: serializeError(error) })
      } finally {
        if (running.get(id) === controller) running.delete(id)
      }
    },
    cancel: (id: number) => running.get(id)?.abort(),
    end: () => running.forEach((stop) => stop.abort(new Error('The window was closed.'))),
  }
}

/** Longest previewed code, characters (the server limits bytes). */
const MAX_CODE_LENGTH = 102_400

const isPreviewable = (value: unknown): value is PreviewedComponent =>
  isRecord(value) &&
  typeof value['component_id'] === 'string' &&
  ['css', 'js', 'widget'].includes(String(value['component_type'])) &&
  typeof value['code'] === 'string' &&
  value['code'].length <= MAX_CODE_LENGTH &&
  isRecord(value['metadata'])

function download({ actions }: ResolvedGrant, { action, params }: Extract<AppMessage, { type: 'download' }>): void {
  if (isAction(action) && actions.includes(action) && isDownload(action) && isRecord(params))
    save(addressOf(action, params))
}

function startPreview(
  grant: ResolvedGrant,
  { id, component }: Extract<AppMessage, { type: 'preview' }>,
  send: (message: DesktopMessage) => void,
): () => void {
  if (!grant.components || !isPreviewable(component)) return () => {}
  return previewComponent(component, (event) => send({ type: 'preview-event', id: Number(id), event }))
}

/** Applies a change of the desktop that the app may make. */
function applyDesktopChange(message: AppMessage): void {
  if (message.type === 'set-preferences' && isRecord(message.preferences)) setPreferences(message.preferences)
  else if (message.type === 'refresh-apps') void refreshApps().catch(toastError)
  else if (message.type === 'reload-app') reloadApp(String(message.slug))
  else if (message.type === 'sign-out') void signOut()
  else if (message.type === 'refresh-user') void refreshUser().catch(toastError)
}

const itemKey = (slug: string, key: unknown): string =>
  `svc.draft.${user.value?.id}.${slug}.${String(key).slice(0, 100)}`

/** Stores an item of an app, or deletes it. One that is too long leaves the previous one. */
function setItem(slug: string, key: unknown, value: unknown): void {
  if (typeof value !== 'string') writeItem(itemKey(slug, key), undefined)
  else if (value.length <= MAX_ITEM_LENGTH) writeItem(itemKey(slug, key), value)
}

async function serveStorage(
  slug: string,
  drafts: ReturnType<typeof openDrafts>,
  message: Extract<AppMessage, { type: 'set-item' | 'get-item' | 'keep-draft' | 'restore-drafts' }>,
  send: (message: DesktopMessage) => void,
): Promise<void> {
  if (message.type === 'set-item') return setItem(slug, message.key, message.value)
  const answer = (result: unknown): void => send({ type: 'answer', id: message.id, result })
  if (message.type === 'get-item') answer(readItem<string | null>(itemKey(slug, message.key), null))
  else if (message.type === 'keep-draft') answer(drafts.keep(message.key, message.text))
  else answer(await drafts.restore(String(message.prefix)))
}

/** Most views of an app that the Back button leaves one by one: browsers keep about 50 history entries. */
const MAX_BACK_LEVELS = 20

function windowStateOf(
  message: Extract<AppMessage, { type: 'unsaved' | 'location' | 'back-levels' }>,
): Partial<AppWindow> {
  if (message.type === 'unsaved') return { unsaved: message.unsaved === true }
  if (message.type === 'location') return { location: validPath(message.path) }
  return { backLevels: Math.max(0, Math.min(Math.trunc(Number(message.count)) || 0, MAX_BACK_LEVELS)) }
}

/** Events of an app. */
interface ServeHandlers {
  /** Whether it rendered. */
  onStarted: (ok: boolean) => void
  /** It exceeded the message limit. */
  onRateExceeded: () => void
}

/**
 * Serves a built-in app over its port, limited to its grant. Returns a function that ends it. Messages are validated
 * like any input: code injected into an app must not get further.
 */
export function serve(
  port: MessagePort,
  { id: window, slug }: AppWindow,
  { onStarted, onRateExceeded }: ServeHandlers,
): () => void {
  const grant = resolveGrant(slug)
  let watched: string[] = []
  const send = (message: DesktopMessage): void => port.postMessage(message)
  const calls = makeCalls(grant, send)
  const drafts = openDrafts(slug)
  const allowMessage = makeMessageLimiter(MAX_MESSAGES, 1_000)
  let endPreview = (): void => {}
  const disposers = [
    () => endPreview(),
    drafts.close,
    onChanges((changes, reset) => {
      const wanted = changes.filter(({ table }) => watched.includes(table))
      if (watched.length > 0 && (reset || wanted.length > 0)) send({ type: 'changes', changes: wanted, reset })
    }),
    effect(() => send({ type: 'surroundings', ...desktopState() })),
    effect(() => send({ type: 'preferences', preferences: preferences.value })),
    effect(() => void (grant.components && send({ type: 'components', ...componentsState.value }))),
  ]

  port.onmessage = ({ data }: MessageEvent<AppMessage>) => {
    if (!allowMessage()) onRateExceeded()
    else if (isRecord(data)) receive(data)
  }

  function receive(data: AppMessage): void {
    switch (data.type) {
      case 'call':
        void calls.answer(data)
        break
      case 'cancel':
        calls.cancel(data.id)
        break
      case 'download':
        download(grant, data)
        break
      case 'watch':
        watched = Array.isArray(data.tables) ? data.tables.filter((table) => grant.tables.includes(table)) : []
        break
      case 'set-item':
      case 'get-item':
      case 'keep-draft':
      case 'restore-drafts':
        void serveStorage(slug, drafts, data, send)
        break
      case 'started':
        onStarted(data.ok === true)
        break
      case 'unsaved':
      case 'location':
      case 'back-levels':
        updateWindow(window, windowStateOf(data))
        break
      case 'open-link':
        openLink(data.url)
        break
      case 'preview':
        endPreview()
        endPreview = startPreview(grant, data, send)
        break
      case 'restart-component':
        if (grant.components) restartComponent(String(data.component_id))
        break
      case 'key':
        runKeyBinding(String(data.key))
        break
      default:
        if (grant.desktop === true || grant.desktop.includes(data.type)) applyDesktopChange(data)
    }
  }

  return () => {
    for (const stop of disposers) stop()
    updateWindow(window, { backLevels: 0 })
    calls.end()
    port.onmessage = null
    port.close()
  }
}

function serializeError(error: unknown): SerializedError {
  if (!(error instanceof ApiError)) return { code: 'unknown', message: '' }
  const { code, message, fields, retryAfter } = error
  return { code, message, fields, ...(retryAfter === undefined ? {} : { retryAfter }) }
}

const toastError = (error: unknown): void => toast(describeError(error), { tone: 'bad' })

function save(address: string): void {
  const link = document.createElement('a')
  link.href = address
  link.download = ''
  link.click()
}

/** Opens an address in a new tab without access to this one. */
function openLink(address: unknown): void {
  const url = URL.parse(String(address))
  if (url && ['http:', 'https:', 'mailto:', 'tel:'].includes(url.protocol))
    open(url.href, '_blank', 'noopener,noreferrer')
}
