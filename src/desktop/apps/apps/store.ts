import { computed, signal } from '@preact/signals'
import { nameOfApp, ownSlug } from '../../kit/app-names.ts'
import { bridge } from '../../kit/bridge.ts'
import type { AnswerOf } from '../../wire/actions.ts'
import { words } from './words.ts'

export type App = AnswerOf<'apps.list'>['apps'][number]
export type Category = App['category']

export const categories = [
  'productivity',
  'communication',
  'finance',
  'utility',
  'entertainment',
  'ai',
  'maps',
  'custom',
] as const satisfies readonly Category[]

/** Apps of whoever is signed in; undefined until they are there. */
export const known = signal<readonly App[] | undefined>(undefined)
/** Why they are not. */
export const listTrouble = signal<unknown>(undefined)
export const sought = signal('')
export const category = signal<Category | 'all'>('all')

/** What is shown beside the list: an app, or what is written about one. */
export const view = signal<{ page: 'app'; slug: string } | { page: 'form' } | undefined>(undefined)

/** Asks again which apps there are. */
export async function refresh(): Promise<void> {
  try {
    known.value = (await bridge.call('apps.list', {})).apps
    listTrouble.value = undefined
  } catch (error) {
    listTrouble.value = error
  }
}

/** What an app is called: those of the package in the language of the desktop, others as they call themselves. */
export const nameOf = (app: App): string => nameOfApp(app)

/** What an app is for, likewise. */
export function aboutOf(app: App): string {
  const own = ownSlug(app)
  return own ? words(`about_${own}`) : app.description
}

export const appOf = (slug: string): App | undefined => known.value?.find((app) => app.slug === slug)

const plain = (text: string): string => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()

/** What the list shows, by name. */
export const found = computed(() => {
  const parts = plain(sought.value).split(/\s+/)
  return (known.value ?? [])
    .filter((app) => category.value === 'all' || app.category === category.value)
    .filter((app) => {
      const text = plain([nameOf(app), app.slug, aboutOf(app), words(app.category)].join('\n'))
      return parts.every((part) => text.includes(part))
    })
    .toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)))
})

void refresh()
document.addEventListener('visibilitychange', () => document.hidden || void refresh())
