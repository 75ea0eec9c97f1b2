import { batch, computed, effect, signal } from '@preact/signals'
import { bridge } from '../../kit/bridge.ts'
import { ApiError } from '../../kit/api-error.ts'
import type { AnswerOf } from '../../wire/actions.ts'
import { drafts, discardDraft, putDraft, type Draft } from './drafts.ts'
import { onChange, refresh, view } from './store.ts'

export type Version = AnswerOf<'desktopComponents.history'>['versions'][number]
type Stored = AnswerOf<'desktopComponents.get'>['component']

/** A component on the server. Versions are newest first; `present` is the active version, or else the newest. */
interface OpenComponent {
  name: string
  versions: readonly Version[]
  /** Undefined if the server has no such component. */
  present: Stored | undefined
}

const loaded = signal<OpenComponent | undefined>(undefined)
export const loadError = signal<unknown>(undefined)
export const saveError = signal<unknown>(undefined)
export const isSaving = signal(false)

const openName = computed(() => (view.value?.page === 'component' ? view.value.name : undefined))

export const openComponent = computed(() => (loaded.value?.name === openName.value ? loaded.value : undefined))
export const draft = computed(() => (openName.value === undefined ? undefined : drafts.value.get(openName.value)))

const newestOf = ({ versions }: OpenComponent): number => versions[0]?.version ?? 0

/** The content of the editor: the draft, or else the stored version. */
export const current = computed<Draft | undefined>(() => {
  if (draft.value) return draft.value
  const stored = openComponent.value?.present
  return stored && draftOf(openComponent.value!, stored)
})

/** Whether someone else saved a version since editing began. */
export const isConflict = computed(
  () =>
    draft.value !== undefined &&
    openComponent.value !== undefined &&
    newestOf(openComponent.value) !== draft.value.base,
)

function draftOf(component: OpenComponent, { component_type, code, metadata }: Stored): Draft {
  return { name: component.name, kind: component_type, code, metadata: { ...metadata }, base: newestOf(component) }
}

const isSame = (component: Draft, otherComponent: Draft): boolean =>
  component.kind === otherComponent.kind &&
  component.code === otherComponent.code &&
  JSON.stringify(component.metadata) === JSON.stringify(otherComponent.metadata)

const ifNotFound =
  <T>(none: T) =>
  (error: unknown): T => {
    if (error instanceof ApiError && error.code === 'not_found') return none
    throw error
  }

async function read(name: string): Promise<OpenComponent> {
  const { versions } = await bridge
    .call('desktopComponents.history', { component_id: name })
    .catch(ifNotFound({ versions: [] as Version[] }))
  const version = versions.find(({ is_active }) => is_active) ?? versions[0]
  if (!version) return { name, versions, present: undefined }
  return { name, versions, present: await codeOf(name, version.version) }
}

export const codeOf = async (component_id: string, version: number): Promise<Stored> =>
  (await bridge.call('desktopComponents.get', { component_id, version })).component

let lastRequest = 0

/** Reloads the open component. A draft is kept unless it equals the stored version. */
export async function refreshOpen(): Promise<void> {
  const name = openName.peek()
  if (name === undefined || isSaving.peek()) return
  const at = ++lastRequest
  try {
    const now = await read(name)
    if (at !== lastRequest || isSaving.peek()) return
    batch(() => {
      loaded.value = now
      loadError.value = undefined
      const mine = drafts.peek().get(name)
      if (mine && now.present && isSame(mine, draftOf(now, now.present))) discardDraft(name)
    })
  } catch (error) {
    if (at === lastRequest) loadError.value = error
  }
}

/** Stores an edit as a draft. */
export function write(changes: Partial<Pick<Draft, 'kind' | 'code' | 'metadata'>>): void {
  const before = current.peek()
  if (!before) return
  const next = { ...before, ...changes }
  const stored = openComponent.peek()?.present
  if (stored && !isConflict.peek() && isSame(next, draftOf(openComponent.peek()!, stored))) discardDraft(next.name)
  else putDraft(next)
}

/** The expected state on the server after saving. */
function saved({ name, code, kind, metadata }: Draft, version: number): OpenComponent {
  const at = new Date().toISOString().slice(0, 19).replace('T', ' ')
  const older = (loaded.peek()?.name === name ? loaded.peek()!.versions : []).map((component) => ({
    ...component,
    is_active: false,
  }))
  const stored = {
    id: 0,
    component_id: name,
    component_type: kind,
    code,
    metadata,
    version,
    is_active: true,
    updated_at: at,
  }
  return { name, versions: [{ version, is_active: true, updated_at: at, metadata }, ...older], present: stored }
}

/** Saves the draft if its base is still the newest version; otherwise it becomes a conflict. */
export async function save(): Promise<void> {
  const mine = draft.peek()
  if (!mine || isSaving.peek()) return
  isSaving.value = true
  saveError.value = undefined
  let isStale = false
  try {
    const { name, kind, code, metadata, base } = mine
    const { version } = await bridge.call('desktopComponents.save', {
      component_id: name,
      component_type: kind,
      code,
      metadata,
      base_version: base,
    })
    batch(() => {
      loaded.value = saved(mine, version)
      const now = drafts.peek().get(name)
      if (now === mine) discardDraft(name)
      else if (now) putDraft({ ...now, base: version })
    })
  } catch (error) {
    isStale = error instanceof ApiError && error.code === 'conflict'
    if (!isStale) saveError.value = error
  } finally {
    isSaving.value = false
  }
  void refresh()
  if (isStale || saveError.peek() === undefined) await refreshOpen()
}

/** Saves the draft as the newest version; the other one stays in the history. */
export function saveAnyway(): void {
  const mine = draft.peek()
  const stored = openComponent.peek()
  if (!mine || !stored) return
  putDraft({ ...mine, base: newestOf(stored) })
  void save()
}

effect(() => {
  if (openName.value === undefined) return
  loadError.value = undefined
  saveError.value = undefined
  void refreshOpen()
})

onChange(() => {
  void refresh()
  void refreshOpen()
})
