import { computed, effect, signal } from '@preact/signals'
import { nameOfApp, builtInSlug } from '../../kit/app-names.ts'
import { bridge } from '../../kit/bridge.ts'
import { compareNames } from '../../kit/formats.ts'
import type { AnswerOf } from '../../wire/actions.ts'
import { words } from './words.ts'

export type App = AnswerOf<'apps.list'>['apps'][number]
type Registered = AnswerOf<'admin.apps'>['apps'][number]
export type Category = App['category']

/** Apps of the user; undefined until loaded. */
export const installed = signal<readonly App[] | undefined>(undefined)
/** All apps of the server by slug, for administrators. */
export const registered = signal<ReadonlyMap<string, Registered>>(new Map())
/** Error of the last load. */
export const listError = signal<unknown>(undefined)
export const searchText = signal('')
export const category = signal<Category | 'all'>('all')

export const view = signal<{ page: 'app'; slug: string } | { page: 'form' } | undefined>(undefined)

/** Reloads the apps. */
export async function refresh(): Promise<void> {
  try {
    const isAdmin = bridge.user.peek()?.role === 'admin'
    const [{ apps }, all] = await Promise.all([
      bridge.call('apps.list', {}),
      isAdmin ? bridge.call('admin.apps', {}) : undefined,
    ])
    installed.value = apps
    registered.value = new Map((all?.apps ?? []).map((app) => [app.slug, app]))
    listError.value = undefined
  } catch (error) {
    listError.value = error
  }
}

export const nameOf = (app: App): string => nameOfApp(app)

/** Description of an app; those of built-in apps are translated. */
export function descriptionOf(app: App): string {
  const own = builtInSlug(app)
  return own ? words(`about_${own}`) : app.description
}

/** A disabled app, as far as administrators can see it. */
const disabledApp = ({ slug, name, source }: Registered): App => ({
  id: 0,
  slug,
  name,
  description: '',
  icon_url: '',
  app_path: `/apps/${slug}/index.html`,
  category: source === 'custom' ? 'custom' : 'utility',
  supports_context: false,
  is_system: source !== 'custom',
})

export const isDisabled = ({ slug }: App): boolean => registered.value.get(slug)?.disabled === true

const all = computed(() => [
  ...(installed.value ?? []),
  ...[...registered.value.values()].filter(({ disabled }) => disabled).map(disabledApp),
])

export const appOf = (slug: string): App | undefined => all.value.find((app) => app.slug === slug)

const fold = (text: string): string => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()

/** Apps of the list, by name. */
export const foundApps = computed(() => {
  const parts = fold(searchText.value).split(/\s+/)
  return all.value
    .filter((app) => category.value === 'all' || app.category === category.value)
    .filter((app) => {
      const text = fold([nameOf(app), app.slug, descriptionOf(app), words(app.category)].join('\n'))
      return parts.every((part) => text.includes(part))
    })
    .toSorted((a, b) => compareNames(nameOf(a), nameOf(b)))
})

// The user is known after the handshake with the desktop.
effect(() => void (bridge.user.value && refresh()))
document.addEventListener('visibilitychange', () => document.hidden || void refresh())
