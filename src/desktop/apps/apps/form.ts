import { signal } from '@preact/signals'
import { bridge } from '../../kit/bridge.ts'
import { Trouble } from '../../kit/trouble.ts'
import { refresh, view, type App } from './store.ts'

const fields = ['name', 'description', 'icon_url', 'app_path', 'category', 'supports_context'] as const

export type Details = Pick<App, 'slug' | (typeof fields)[number]>

/** What somebody writes about an app. */
export interface Form {
  details: Details
  /** The app as it was when this was begun; undefined for a new one. */
  base: App | undefined
  /** Whether the short name follows the name. */
  isFollowing: boolean
}

const KEY = 'form'

export const form = signal<Form | undefined>(undefined)
export const formTrouble = signal<unknown>(undefined)
export const isSaving = signal(false)
/** The app as it is by now, where it is not what `base` says; null when it is gone. */
export const theirs = signal<App | null | undefined>(undefined)

function put(next: Form | undefined): void {
  form.value = next
  bridge.keep(KEY, next ? JSON.stringify(next) : null)
  bridge.unsaved(next !== undefined && Object.keys(changesOf(next)).length > 0)
}

const blank: Details = {
  name: '',
  slug: '',
  description: '',
  icon_url: '',
  app_path: '',
  category: 'custom',
  supports_context: false,
}

function show(next: Form): void {
  formTrouble.value = undefined
  theirs.value = undefined
  put(next)
  view.value = { page: 'form' }
}

/** Begins a new app, or goes on with what was begun. */
export const beginNew = (): void =>
  show(form.peek() && !form.peek()!.base ? form.peek()! : { details: blank, base: undefined, isFollowing: true })

/** Begins to change an app, or goes on with it. */
export const beginChange = (app: App): void =>
  show(form.peek()?.base?.id === app.id ? form.peek()! : { details: app, base: app, isFollowing: false })

/** Forgets what was written. */
export function drop(): void {
  const slug = form.peek()?.base?.slug
  put(undefined)
  view.value = slug === undefined ? undefined : { page: 'app', slug }
}

/** A name as it may stand in addresses. */
const slugFor = (name: string): string =>
  name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replaceAll('ß', 'ss')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 63)
    .replace(/^-+|-+$/g, '')

export function write(changes: Partial<Details>): void {
  const before = form.peek()
  if (!before) return
  const isFollowing = before.isFollowing && changes.slug === undefined
  const slug = isFollowing && changes.name !== undefined ? { slug: slugFor(changes.name) } : {}
  put({ ...before, isFollowing, details: { ...before.details, ...changes, ...slug } })
}

/** What was changed of an app. */
const changesOf = ({ details, base }: Form): Partial<Details> =>
  Object.fromEntries(
    fields.filter((name) => details[name] !== (base ?? blank)[name]).map((name) => [name, details[name]]),
  )

/** Whether somebody changed the same elsewhere, since this was begun. */
function isStale({ details, base }: Form, now: App): boolean {
  return fields.some(
    (name) => details[name] !== base![name] && now[name] !== base![name] && now[name] !== details[name],
  )
}

async function change(written: Form): Promise<boolean> {
  const { apps } = await bridge.call('apps.list', {})
  const now = apps.find(({ id }) => id === written.base!.id)
  if (!now || isStale(written, now)) {
    theirs.value = now ?? null
    return false
  }
  await bridge.call('apps.update', { id: now.id, ...changesOf(written) })
  return true
}

async function create({ details }: Form): Promise<boolean> {
  const { app_path, ...rest } = details
  await bridge.call('apps.create_custom', { ...rest, ...(app_path.trim() === '' ? {} : { app_path: app_path.trim() }) })
  return true
}

/** Saves what is written; where the same was changed elsewhere, nothing, and says so. Answers whether it is saved. */
export async function save(): Promise<boolean> {
  const written = form.peek()
  if (!written || isSaving.peek()) return false
  isSaving.value = true
  formTrouble.value = undefined
  try {
    if (!(await (written.base ? change(written) : create(written)))) return false
    put(undefined)
    view.value = { page: 'app', slug: written.details.slug }
    return true
  } catch (error) {
    formTrouble.value = error
    return false
  } finally {
    isSaving.value = false
    void refresh()
  }
}

/** Ends a conflict: what is written here is meant for the app as it is now, or is forgotten; of a gone one a new one is made. */
export function settle(winner: 'mine' | 'theirs'): void {
  const written = form.peek()
  const now = theirs.peek()
  if (!written || now === undefined) return
  theirs.value = undefined
  if (winner === 'theirs') {
    put(undefined)
    view.value = now ? { page: 'app', slug: now.slug } : undefined
    return
  }
  // Of the others, what is in force elsewhere stays.
  const base = now ?? undefined
  put({ ...written, base, details: base ? { ...base, ...changesOf(written) } : written.details })
}

/** Takes up what an earlier window was left with. */
export async function restore(): Promise<void> {
  const text = await bridge.kept(KEY)
  if (text !== null && form.peek() === undefined) show(JSON.parse(text) as Form)
}

/** Whether a trouble says that the short name is taken. */
export const isTaken = (error: unknown): boolean => error instanceof Trouble && error.code === 'exists'
