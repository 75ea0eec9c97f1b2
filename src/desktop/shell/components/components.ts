import { computed, effect, signal } from '@preact/signals'
import type { AnswerOf } from '../../wire/actions.ts'
import type { ComponentsState, Failure, SwitchedOff, Trial } from '../../wire/protocol.ts'
import { words } from '../words.ts'
import { notify } from '../notices.ts'
import { call } from '../session.ts'
import type { DockWish, PanelWish } from './answers.ts'

type Listed = AnswerOf<'desktopComponents.list'>['components'][number]

/** A component at work, or about to be. */
export type Component = Pick<Listed, 'component_id' | 'component_type' | 'code' | 'version' | 'metadata'>

/** Counts starts of this tab that nothing came of: where browsers run frames in the page's own thread, a widget can hang it. */
const HUNG = 'svc.components.starts'
const starts = Number(sessionStorage.getItem(HUNG) ?? 0)

/** Whether the desktop starts without any: asked to, or because it hung twice; the way back from one that makes it unusable. */
const isSafe = new URLSearchParams(location.search).has('safe') || starts >= 2

const active = signal<readonly Listed[]>([])
/** What is tried out instead of, or beside, what is active. */
const tried = signal<{ component: Component; tell: (trial: Trial) => void } | undefined>(undefined)
/** Versions that were switched off until the desktop is loaded anew, by `keyOf`. */
const off = signal<ReadonlyMap<string, SwitchedOff>>(new Map())
let trials = 0

/** Names a version of a component; names may be anything, versions are numbers. */
export const keyOf = ({ component_id, version }: Component): string => `${version} ${component_id}`

/** What is to run at the moment. */
export const atWork = computed<readonly Component[]>(() => {
  const trial = tried.value?.component
  const others = isSafe ? [] : active.value.filter(({ component_id }) => component_id !== trial?.component_id)
  return [...others, ...(trial ? [trial] : [])].filter((one) => !off.value.has(keyOf(one)))
})

/** Whether a component is only tried out. */
export const isTried = (component: Component): boolean => tried.value?.component === component

/** What hooks wished, by the key of their component. */
export const dockWishes = signal<ReadonlyMap<string, DockWish>>(new Map())
export const panelWishes = signal<ReadonlyMap<string, PanelWish>>(new Map())

/** Puts an answer of a hook with the others, or takes it away. */
export function keepWish<T>(wishes: { value: ReadonlyMap<string, T> }, key: string, wish: T | undefined): void {
  if (wish === undefined && !wishes.value.has(key)) return
  const next = new Map(wishes.value)
  if (wish === undefined) next.delete(key)
  else next.set(key, wish)
  wishes.value = next
}

function reason(failure: Failure): string {
  return failure.kind === 'threw' ? words('component_threw', failure.message) : words(`component_${failure.kind}`)
}

/** Where the app for components shows one. */
const pathTo = ({ component_id }: Component): string => `/component/${encodeURIComponent(component_id)}`

/** Switches a component off for as long as this page is open, and says so. */
export function switchOff(component: Component, failure: Failure): void {
  const { component_id, version } = component
  off.value = new Map(off.value).set(keyOf(component), { component_id, version, failure })
  if (isTried(component)) tried.value?.tell(failure)
  else notify('components', words('component_off', component_id), reason(failure), pathTo(component))
}

/** Lets a component that was switched off begin again. */
export function switchOn(component_id: string): void {
  off.value = new Map([...off.value].filter(([, one]) => one.component_id !== component_id))
}

/** How components fare, for the app that looks after them. */
export const componentsState = computed<ComponentsState>(() => ({
  safe: isSafe,
  active: active.value.map(({ component_id, version }) => ({ component_id, version })),
  off: [...off.value.values()].filter(({ version }) => version > 0),
}))

/** Tells whoever tries a component out that it runs. */
export function startedWell(component: Component): void {
  if (isTried(component)) tried.value?.tell({ kind: 'running' })
}

/** Tells the same what a hook of it answered. */
export function answered(component: Component, hook: 'dock' | 'panel', value: unknown): void {
  if (isTried(component)) tried.value?.tell({ kind: 'answered', hook, json: JSON.stringify(value) })
}

/** Tries a component out on the desktop until it is taken away again; answers the function that does so. */
export function tryOut(component: Omit<Component, 'version'>, tell: (trial: Trial) => void): () => void {
  const trial = { component: { ...component, version: -++trials }, tell }
  tried.value = trial
  return () => {
    if (tried.value === trial) tried.value = undefined
  }
}

/** Milliseconds after which a start has gone well. */
const SETTLED = 8_000

const tabs = new BroadcastChannel('svc.components')

/** Asks again which components are active. */
async function refreshComponents(): Promise<void> {
  active.value = (await call('desktopComponents.list', {})).components
}

/** The same, here and in all tabs of this browser. */
export function componentsChanged(): void {
  tabs.postMessage(null)
  refreshQuietly()
}

/** Without components the desktop is a desktop all the same. */
const refreshQuietly = (): void => void refreshComponents().catch(() => undefined)

/** Puts components to work and keeps up with changes, also with those made elsewhere while nobody looked. */
export function startComponents(): void {
  sessionStorage.setItem(HUNG, String(isSafe ? 0 : starts + 1))
  setTimeout(() => sessionStorage.removeItem(HUNG), SETTLED)
  addEventListener('pagehide', () => sessionStorage.removeItem(HUNG))
  refreshQuietly()
  tabs.addEventListener('message', refreshQuietly)
  document.addEventListener('visibilitychange', () => document.hidden || refreshQuietly())
  if (isSafe) notify('components', words('safe_start'), words('safe_start_text'))
  const sheet = new CSSStyleSheet()
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]
  effect(() => {
    const styles = atWork.value.filter(({ component_type }) => component_type === 'css')
    sheet.replaceSync(styles.map(({ code }) => rulesOf(code)).join('\n'))
    styles.forEach(startedWell)
  })
}

/** The rules of a style sheet as the browser understood them, so that one left open does not swallow the next. */
function rulesOf(code: string): string {
  const alone = new CSSStyleSheet()
  alone.replaceSync(code)
  return [...alone.cssRules].map(({ cssText }) => cssText).join('\n')
}
