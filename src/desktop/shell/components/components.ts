import { computed, effect, signal } from '@preact/signals'
import type { AnswerOf } from '../../wire/actions.ts'
import type { ComponentsState, Failure, StoppedComponent, PreviewEvent } from '../../wire/protocol.ts'
import { words } from '../words.ts'
import { notify } from '../desktop-notifications.ts'
import { call } from '../session.ts'
import type { DockLayout, PanelLayout } from './hook-results.ts'

type Listed = AnswerOf<'desktopComponents.list'>['components'][number]

/** A component at work, or about to be. */
export type Component = Pick<Listed, 'component_id' | 'component_type' | 'code' | 'version' | 'metadata'>

/** Counts starts of this tab that nothing came of: where browsers run frames in the page's own thread, a widget can hang it. */
const STARTS_KEY = 'svc.components.starts'
const starts = Number(sessionStorage.getItem(STARTS_KEY) ?? 0)

/** Whether the desktop starts without any: asked to, or because it hung twice; the way back from one that makes it unusable. */
const isSafeMode = new URLSearchParams(location.search).has('safe') || starts >= 2

const active = signal<readonly Listed[]>([])
/** What is tried out instead of, or beside, what is active. */
const previewed = signal<{ component: Component; onEvent: (event: PreviewEvent) => void } | undefined>(undefined)
/** Versions that were switched off until the desktop is loaded anew, by `keyOf`. */
const stopped = signal<ReadonlyMap<string, StoppedComponent>>(new Map())
let lastPreviewId = 0

/** Names a version of a component; names may be anything, versions are numbers. */
export const keyOf = ({ component_id, version }: Component): string => `${version} ${component_id}`

/** What is to run at the moment. */
export const runningComponents = computed<readonly Component[]>(() => {
  const event = previewed.value?.component
  const others = isSafeMode ? [] : active.value.filter(({ component_id }) => component_id !== event?.component_id)
  return [...others, ...(event ? [event] : [])].filter((one) => !stopped.value.has(keyOf(one)))
})

/** Whether a component is only tried out. */
export const isPreview = (component: Component): boolean => previewed.value?.component === component

/** What hooks wished, by the key of their component. */
export const dockLayouts = signal<ReadonlyMap<string, DockLayout>>(new Map())
export const panelLayouts = signal<ReadonlyMap<string, PanelLayout>>(new Map())

/** Puts an answer of a hook with the others, or takes it away. */
export function setLayout<T>(layouts: { value: ReadonlyMap<string, T> }, key: string, layout: T | undefined): void {
  if (layout === undefined && !layouts.value.has(key)) return
  const next = new Map(layouts.value)
  if (layout === undefined) next.delete(key)
  else next.set(key, layout)
  layouts.value = next
}

function describeFailure(failure: Failure): string {
  return failure.kind === 'error' ? words('component_error', failure.message) : words(`component_${failure.kind}`)
}

/** Where the app for components shows one. */
const componentPath = ({ component_id }: Component): string => `/component/${encodeURIComponent(component_id)}`

/** Switches a component off for as long as this page is open, and says so. */
export function stopComponent(component: Component, failure: Failure): void {
  const { component_id, version } = component
  stopped.value = new Map(stopped.value).set(keyOf(component), { component_id, version, failure })
  if (isPreview(component)) previewed.value?.onEvent(failure)
  else notify('components', words('component_off', component_id), describeFailure(failure), componentPath(component))
}

/** Lets a component that was switched off begin again. */
export function restartComponent(component_id: string): void {
  stopped.value = new Map([...stopped.value].filter(([, one]) => one.component_id !== component_id))
}

/** How components fare, for the app that looks after them. */
export const componentsState = computed<ComponentsState>(() => ({
  safe: isSafeMode,
  active: active.value.map(({ component_id, version }) => ({ component_id, version })),
  stopped: [...stopped.value.values()].filter(({ version }) => version > 0),
}))

/** Tells whoever tries a component out that it runs. */
export function reportRunning(component: Component): void {
  if (isPreview(component)) previewed.value?.onEvent({ kind: 'running' })
}

/** Tells the same what a hook of it answered. */
export function reportHookResult(component: Component, hook: 'dock' | 'panel', value: unknown): void {
  if (isPreview(component)) previewed.value?.onEvent({ kind: 'answered', hook, json: JSON.stringify(value) })
}

/** Tries a component out on the desktop until it is taken away again; answers the function that does so. */
export function previewComponent(
  component: Omit<Component, 'version'>,
  onEvent: (event: PreviewEvent) => void,
): () => void {
  const event = { component: { ...component, version: -++lastPreviewId }, onEvent }
  previewed.value = event
  return () => {
    if (previewed.value === event) previewed.value = undefined
  }
}

/** Milliseconds after which a start has gone well. */
const STABLE_AFTER = 8_000

const tabs = new BroadcastChannel('svc.components')

/** Asks again which components are active. */
async function refreshComponents(): Promise<void> {
  active.value = (await call('desktopComponents.list', {})).components
}

/** The same, here and in all tabs of this browser. */
export function announceComponentsChange(): void {
  tabs.postMessage(null)
  refreshQuietly()
}

/** Without components the desktop is a desktop all the same. */
const refreshQuietly = (): void => void refreshComponents().catch(() => undefined)

/** Puts components to work and keeps up with changes, also with those made elsewhere while nobody looked. */
export function startComponents(): void {
  sessionStorage.setItem(STARTS_KEY, String(isSafeMode ? 0 : starts + 1))
  setTimeout(() => sessionStorage.removeItem(STARTS_KEY), STABLE_AFTER)
  addEventListener('pagehide', () => sessionStorage.removeItem(STARTS_KEY))
  refreshQuietly()
  tabs.addEventListener('message', refreshQuietly)
  document.addEventListener('visibilitychange', () => document.hidden || refreshQuietly())
  if (isSafeMode) notify('components', words('safe_start'), words('safe_start_text'))
  const sheet = new CSSStyleSheet()
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]
  effect(() => {
    const styles = runningComponents.value.filter(({ component_type }) => component_type === 'css')
    sheet.replaceSync(styles.map(({ code }) => rulesOf(code)).join('\n'))
    styles.forEach(reportRunning)
  })
}

/** The rules of a style sheet as the browser understood them, so that one left open does not swallow the next. */
function rulesOf(code: string): string {
  const alone = new CSSStyleSheet()
  alone.replaceSync(code)
  return [...alone.cssRules].map(({ cssText }) => cssText).join('\n')
}
