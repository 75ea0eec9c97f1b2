import { computed, signal } from '@preact/signals'
import { builtInApps } from '../kit/app-names.ts'
import type { AnswerOf } from '../wire/actions.ts'
import { call } from './session.ts'

export type App = AnswerOf<'apps.list'>['apps'][number]

const installed = signal<readonly App[]>([])

function rank({ slug }: App): number {
  const at = builtInApps.findIndex((builtIn) => builtIn === slug)
  return at < 0 ? builtInApps.length : at
}

/** Whether an app has a page: the server lists built-in apps that this build may lack. */
const hasPage = ({ slug }: App): boolean => !builtInApps.some((builtIn) => builtIn === slug) || __APPS__.includes(slug)

/** Apps of the signed-in user. */
export const apps = computed(() =>
  installed.value.filter(hasPage).toSorted((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name)),
)

export const appBySlug = (slug: string): App | undefined => apps.value.find((app) => app.slug === slug)

/** Whether an app is built in; its page must be the one of this package. */
export const isBuiltIn = ({ slug, is_system, app_path }: App): boolean =>
  is_system && __APPS__.includes(slug) && app_path === `/apps/${slug}/index.html`

/** Whether the list of apps was loaded once. */
export const appsLoaded = signal(false)

export async function refreshApps(): Promise<void> {
  try {
    installed.value = (await call('apps.list', {})).apps
  } finally {
    appsLoaded.value = true
  }
}

const tabs = new BroadcastChannel('svc.apps')
tabs.addEventListener('message', () => void refreshApps().catch(() => undefined))

/** Reloads the list in all tabs of this browser. */
export function announceAppsChange(): Promise<void> {
  tabs.postMessage(null)
  return refreshApps()
}
