import { signal } from '@preact/signals'
import { bridge } from '../../kit/bridge.ts'
import { ApiError } from '../../kit/api-error.ts'
import { refresh, view, type App } from './store.ts'

const fieldNames = ['name', 'description', 'icon_url', 'app_path', 'category', 'supports_context'] as const

export type AppFields = Pick<App, 'slug' | (typeof fieldNames)[number]>

export interface AppDraft {
  details: AppFields
  /** The app when editing began; undefined for a new one. */
  base: App | undefined
  /** Whether the slug is derived from the name. */
  slugFollowsName: boolean
}

const KEY = 'form'

export const draft = signal<AppDraft | undefined>(undefined)
export const saveError = signal<unknown>(undefined)
export const isSaving = signal(false)
/** The current app on the server if it conflicts with the draft; null if it was removed. */
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

/** Starts a new app, or resumes its draft. */
export const startNew = (): void =>
  openDraft(
    draft.peek() && !draft.peek()!.base ? draft.peek()! : { details: blank, base: undefined, slugFollowsName: true },
  )

/** Starts editing an app, or resumes its draft. */
export const startEdit = (app: App): void =>
  openDraft(draft.peek()?.base?.id === app.id ? draft.peek()! : { details: app, base: app, slugFollowsName: false })

export function discard(): void {
  const slug = draft.peek()?.base?.slug
  setDraft(undefined)
  view.value = slug === undefined ? undefined : { page: 'app', slug }
}

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

const changedFields = ({ details, base }: AppDraft): Partial<AppFields> =>
  Object.fromEntries(
    fieldNames.filter((name) => details[name] !== (base ?? blank)[name]).map((name) => [name, details[name]]),
  )

/** Whether someone else changed one of the same fields. */
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

/** Saves the draft. Returns false after an error or a conflict, which is stored in `saveError` or `theirs`. */
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

/** Resolves a conflict: keeps the draft for the current app (for a new one if it was removed), or discards it. */
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
  // Unchanged fields take the server's values.
  const base = now ?? undefined
  setDraft({ ...written, base, details: base ? { ...base, ...changedFields(written) } : written.details })
}

/** Restores the draft of an earlier page. */
export async function restore(): Promise<void> {
  const text = await bridge.getItem(KEY)
  if (text !== null && draft.peek() === undefined) openDraft(JSON.parse(text) as AppDraft)
}

/** Whether the slug is already taken. */
export const isSlugTaken = (error: unknown): boolean => error instanceof ApiError && error.code === 'exists'
