import { signal } from '@preact/signals'
import { bridge } from '../../kit/bridge.ts'
import { ApiError } from '../../kit/api-error.ts'
import { refresh, view, type App } from './store.ts'

const fieldNames = ['name', 'description', 'icon_url', 'app_path', 'category', 'supports_context'] as const

export type AppFields = Pick<App, 'slug' | (typeof fieldNames)[number]>

/** What somebody writes about an app. */
export interface AppDraft {
  details: AppFields
  /** The app as it was when this was begun; undefined for a new one. */
  base: App | undefined
  /** Whether the short name follows the name. */
  slugFollowsName: boolean
}

const KEY = 'form'

export const draft = signal<AppDraft | undefined>(undefined)
export const saveError = signal<unknown>(undefined)
export const isSaving = signal(false)
/** The app as it is by now, where it is not what `base` says; null when it is gone. */
export const theirs = signal<App | null | undefined>(undefined)

function setDraft(next: AppDraft | undefined): void {
  draft.value = next
  bridge.setItem(KEY, next ? JSON.stringify(next) : null)
  bridge.setUnsaved(next !== undefined && Object.keys(changedFields(next)).length > 0)
}

const blank: AppFields = {
  name: '',
  slug: '',
  description: '',
  icon_url: '',
  app_path: '',
  category: 'custom',
  supports_context: false,
}

function openDraft(next: AppDraft): void {
  saveError.value = undefined
  theirs.value = undefined
  setDraft(next)
  view.value = { page: 'form' }
}

/** Begins a new app, or goes on with what was begun. */
export const startNew = (): void =>
  openDraft(
    draft.peek() && !draft.peek()!.base ? draft.peek()! : { details: blank, base: undefined, slugFollowsName: true },
  )

/** Begins to change an app, or goes on with it. */
export const startEdit = (app: App): void =>
  openDraft(draft.peek()?.base?.id === app.id ? draft.peek()! : { details: app, base: app, slugFollowsName: false })

/** Forgets what was written. */
export function discard(): void {
  const slug = draft.peek()?.base?.slug
  setDraft(undefined)
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

export function edit(changes: Partial<AppFields>): void {
  const before = draft.peek()
  if (!before) return
  const slugFollowsName = before.slugFollowsName && changes.slug === undefined
  const slug = slugFollowsName && changes.name !== undefined ? { slug: slugFor(changes.name) } : {}
  setDraft({ ...before, slugFollowsName, details: { ...before.details, ...changes, ...slug } })
}

/** What was changed of an app. */
const changedFields = ({ details, base }: AppDraft): Partial<AppFields> =>
  Object.fromEntries(
    fieldNames.filter((name) => details[name] !== (base ?? blank)[name]).map((name) => [name, details[name]]),
  )

/** Whether somebody changed the same elsewhere, since this was begun. */
function isStale({ details, base }: AppDraft, now: App): boolean {
  return fieldNames.some(
    (name) => details[name] !== base![name] && now[name] !== base![name] && now[name] !== details[name],
  )
}

async function update(written: AppDraft): Promise<boolean> {
  const { apps } = await bridge.call('apps.list', {})
  const now = apps.find(({ id }) => id === written.base!.id)
  if (!now || isStale(written, now)) {
    theirs.value = now ?? null
    return false
  }
  await bridge.call('apps.update', { id: now.id, ...changedFields(written) })
  return true
}

async function create({ details }: AppDraft): Promise<boolean> {
  const { app_path, ...rest } = details
  await bridge.call('apps.create_custom', { ...rest, ...(app_path.trim() === '' ? {} : { app_path: app_path.trim() }) })
  return true
}

/** Saves what is written; where the same was changed elsewhere, nothing, and says so. Answers whether it is saved. */
export async function save(): Promise<boolean> {
  const written = draft.peek()
  if (!written || isSaving.peek()) return false
  isSaving.value = true
  saveError.value = undefined
  try {
    if (!(await (written.base ? update(written) : create(written)))) return false
    setDraft(undefined)
    view.value = { page: 'app', slug: written.details.slug }
    return true
  } catch (error) {
    saveError.value = error
    return false
  } finally {
    isSaving.value = false
    void refresh()
  }
}

/** Ends a conflict: what is written here is meant for the app as it is now, or is forgotten; of a gone one a new one is made. */
export function resolveConflict(winner: 'mine' | 'theirs'): void {
  const written = draft.peek()
  const now = theirs.peek()
  if (!written || now === undefined) return
  theirs.value = undefined
  if (winner === 'theirs') {
    setDraft(undefined)
    view.value = now ? { page: 'app', slug: now.slug } : undefined
    return
  }
  // Of the others, what is in force elsewhere stays.
  const base = now ?? undefined
  setDraft({ ...written, base, details: base ? { ...base, ...changedFields(written) } : written.details })
}

/** Takes up what an earlier window was left with. */
export async function restore(): Promise<void> {
  const text = await bridge.getItem(KEY)
  if (text !== null && draft.peek() === undefined) openDraft(JSON.parse(text) as AppDraft)
}

/** Whether an error says that the short name is taken. */
export const isSlugTaken = (error: unknown): boolean => error instanceof ApiError && error.code === 'exists'
