import { computed, effect, signal } from '@preact/signals'
import type { AnswerOf } from '../../wire/actions.ts'
import type { ComponentsState, Failure, StoppedComponent, PreviewEvent } from '../../wire/protocol.ts'
import { words } from '../words.ts'
import { notify } from '../desktop-notifications.ts'
import { call } from '../session.ts'
import type { DockLayout, PanelLayout } from './hook-results.ts'

type Listed = AnswerOf<'desktopComponents.list'>['components'][number]

export type Component = Pick<Listed, 'component_id' | 'component_type' | 'code' | 'version' | 'metadata'>

/** Failed starts in a row in this tab: without process isolation of frames, a widget can hang the page. */
const STARTS_KEY = 'svc.components.starts'
const starts = Number(sessionStorage.getItem(STARTS_KEY) ?? 0)

/** Safe mode, without components: requested with `?safe`, or after two failed starts. */
const isSafeMode = new URLSearchParams(location.search).has('safe') || starts >= 2

const active = signal<readonly Listed[]>([])
/** A preview runs in addition to the active components, or in place of the one with its name. */
const previewed = signal<{ component: Component; onEvent: (event: PreviewEvent) => void } | undefined>(undefined)
/** Components stopped until the desktop is reloaded, by `keyOf`. */
const stopped = signal<ReadonlyMap<string, StoppedComponent>>(new Map())
let lastPreviewId = 0

/** Key of a version. Unambiguous: versions are numbers, names are arbitrary. */
export const keyOf = ({ component_id, version }: Component): string => `${version} ${component_id}`

/** Active components and the preview, without stopped ones. */
export const runningComponents = computed<readonly Component[]>(() => {
  const event = previewed.value?.component
  const others = isSafeMode ? [] : active.value.filter(({ component_id }) => component_id !== event?.component_id)
  return [...others, ...(event ? [event] : [])].filter((one) => !stopped.value.has(keyOf(one)))
})

export const isPreview = (component: Component): boolean => previewed.value?.component === component

/** Results of hooks, by key of the component. */
export const dockLayouts = signal<ReadonlyMap<string, DockLayout>>(new Map())
export const panelLayouts = signal<ReadonlyMap<string, PanelLayout>>(new Map())

/** Sets or deletes the result of a hook. */
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

const componentPath = ({ component_id }: Component): string => `/component/${encodeURIComponent(component_id)}`

/** Stops a component until the page is reloaded, and notifies the user. */
export function stopComponent(component: Component, failure: Failure): void {
  const { component_id, version } = component
  stopped.value = new Map(stopped.value).set(keyOf(component), { component_id, version, failure })
  if (isPreview(component)) previewed.value?.onEvent(failure)
  else notify('components', words('component_off', component_id), describeFailure(failure), componentPath(component))
}

export function restartComponent(component_id: string): void {
  stopped.value = new Map([...stopped.value].filter(([, one]) => one.component_id !== component_id))
}

export const componentsState = computed<ComponentsState>(() => ({
  safe: isSafeMode,
  active: active.value.map(({ component_id, version }) => ({ component_id, version })),
  stopped: [...stopped.value.values()].filter(({ version }) => version > 0),
}))

export function reportRunning(component: Component): void {
  if (isPreview(component)) previewed.value?.onEvent({ kind: 'running' })
}

export function reportHookResult(component: Component, hook: 'dock' | 'panel', value: unknown): void {
  if (isPreview(component)) previewed.value?.onEvent({ kind: 'answered', hook, json: JSON.stringify(value) })
}

/** Runs a component as a preview; returns a function that ends it. */
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

/** Time after which a start counts as successful, ms. */
const STABLE_AFTER = 8_000

const tabs = new BroadcastChannel('svc.components')

async function refreshComponents(): Promise<void> {
  active.value = (await call('desktopComponents.list', {})).components
}

/** Reloads them in all tabs of this browser. */
export function announceComponentsChange(): void {
  tabs.postMessage(null)
  refreshQuietly()
}

/** The desktop works without components: ignore errors. */
const refreshQuietly = (): void => void refreshComponents().catch(() => undefined)

/** Starts components and keeps them up to date; changes of other devices are loaded when the tab becomes visible. */
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

/** The rules of a style sheet as parsed, so that an unclosed block does not affect the next sheet. */
function rulesOf(code: string): string {
  const alone = new CSSStyleSheet()
  alone.replaceSync(code)
  return [...alone.cssRules].map(({ cssText }) => cssText).join('\n')
}
