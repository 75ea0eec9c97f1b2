import { batch, computed, effect, signal } from '@preact/signals'
import { bridge } from '../../kit/bridge.ts'
import { ApiError } from '../../kit/api-error.ts'
import type { AnswerOf } from '../../wire/actions.ts'
import { drafts, discardDraft, putDraft, type Draft } from './drafts.ts'
import { onChange, refresh, view } from './store.ts'

export type Version = AnswerOf<'desktopComponents.history'>['versions'][number]
type Stored = AnswerOf<'desktopComponents.get'>['component']

/** A component as the server has it: versions newest first, and the one to look at, in force where one is. */
interface OpenComponent {
  name: string
  versions: readonly Version[]
  /** Undefined where the server has no such component. */
  present: Stored | undefined
}

const loaded = signal<OpenComponent | undefined>(undefined)
export const loadError = signal<unknown>(undefined)
export const saveError = signal<unknown>(undefined)
export const isSaving = signal(false)

const openName = computed(() => (view.value?.page === 'component' ? view.value.name : undefined))

/** What is open, once it is there. */
export const openComponent = computed(() => (loaded.value?.name === openName.value ? loaded.value : undefined))
export const draft = computed(() => (openName.value === undefined ? undefined : drafts.value.get(openName.value)))

const newestOf = ({ versions }: OpenComponent): number => versions[0]?.version ?? 0

/** What stands in the editor. */
export const current = computed<Draft | undefined>(() => {
  if (draft.value) return draft.value
  const stored = openComponent.value?.present
  return stored && draftOf(openComponent.value!, stored)
})

/** Whether somebody saved another version since what is written here was begun. */
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

/** A version with its code. */
export const codeOf = async (component_id: string, version: number): Promise<Stored> =>
  (await bridge.call('desktopComponents.get', { component_id, version })).component

let lastRequest = 0

/** Looks what the server has by now. What is written here stays, unless it is what the server has. */
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

/** Keeps what was typed. */
export function write(changes: Partial<Pick<Draft, 'kind' | 'code' | 'metadata'>>): void {
  const before = current.peek()
  if (!before) return
  const next = { ...before, ...changes }
  const stored = openComponent.peek()?.present
  if (stored && !isConflict.peek() && isSame(next, draftOf(openComponent.peek()!, stored))) discardDraft(next.name)
  else putDraft(next)
}

/** What a saved draft is on the server, until it is asked for again. */
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

/** Saves what is written, over the version it was begun on and no other. Where there is another, nothing is saved. */
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

/** Saves what is written as the newest version; the other stays among the versions. */
export function saveAnyway(): void {
  const mine = draft.peek()
  const there = openComponent.peek()
  if (!mine || !there) return
  putDraft({ ...mine, base: newestOf(there) })
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
