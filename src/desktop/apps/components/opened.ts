import { batch, computed, effect, signal } from '@preact/signals'
import { bridge } from '../../kit/bridge.ts'
import { Trouble } from '../../kit/trouble.ts'
import type { AnswerOf } from '../../wire/actions.ts'
import { drafts, forget, put, type Draft } from './drafts.ts'
import { onChange, refresh, view } from './store.ts'

export type Version = AnswerOf<'desktopComponents.history'>['versions'][number]
type Stored = AnswerOf<'desktopComponents.get'>['component']

/** A component as the server has it: versions newest first, and the one to look at, in force where one is. */
interface Opened {
  name: string
  versions: readonly Version[]
  /** Undefined where the server has no such component. */
  present: Stored | undefined
}

const opened = signal<Opened | undefined>(undefined)
export const openTrouble = signal<unknown>(undefined)
export const saveTrouble = signal<unknown>(undefined)
export const isSaving = signal(false)

const openName = computed(() => (view.value?.page === 'component' ? view.value.name : undefined))

/** What is open, once it is there. */
export const present = computed(() => (opened.value?.name === openName.value ? opened.value : undefined))
export const draft = computed(() => (openName.value === undefined ? undefined : drafts.value.get(openName.value)))

const newestOf = ({ versions }: Opened): number => versions[0]?.version ?? 0

/** What stands in the editor. */
export const current = computed<Draft | undefined>(() => {
  if (draft.value) return draft.value
  const stored = present.value?.present
  return stored && draftOf(present.value!, stored)
})

/** Whether somebody saved another version since what is written here was begun. */
export const isConflict = computed(
  () => draft.value !== undefined && present.value !== undefined && newestOf(present.value) !== draft.value.base,
)

function draftOf(one: Opened, { component_type, code, metadata }: Stored): Draft {
  return { name: one.name, kind: component_type, code, metadata: { ...metadata }, base: newestOf(one) }
}

const isSame = (one: Draft, other: Draft): boolean =>
  one.kind === other.kind && one.code === other.code && JSON.stringify(one.metadata) === JSON.stringify(other.metadata)

const orNone =
  <T>(none: T) =>
  (error: unknown): T => {
    if (error instanceof Trouble && error.code === 'not_found') return none
    throw error
  }

async function read(name: string): Promise<Opened> {
  const { versions } = await bridge
    .call('desktopComponents.history', { component_id: name })
    .catch(orNone({ versions: [] as Version[] }))
  const version = versions.find(({ is_active }) => is_active) ?? versions[0]
  if (!version) return { name, versions, present: undefined }
  return { name, versions, present: await codeOf(name, version.version) }
}

/** A version with its code. */
export const codeOf = async (component_id: string, version: number): Promise<Stored> =>
  (await bridge.call('desktopComponents.get', { component_id, version })).component

let asked = 0

/** Looks what the server has by now. What is written here stays, unless it is what the server has. */
export async function look(): Promise<void> {
  const name = openName.peek()
  if (name === undefined || isSaving.peek()) return
  const at = ++asked
  try {
    const now = await read(name)
    if (at !== asked || isSaving.peek()) return
    batch(() => {
      opened.value = now
      openTrouble.value = undefined
      const mine = drafts.peek().get(name)
      if (mine && now.present && isSame(mine, draftOf(now, now.present))) forget(name)
    })
  } catch (error) {
    if (at === asked) openTrouble.value = error
  }
}

/** Keeps what was typed. */
export function write(changes: Partial<Pick<Draft, 'kind' | 'code' | 'metadata'>>): void {
  const before = current.peek()
  if (!before) return
  const next = { ...before, ...changes }
  const stored = present.peek()?.present
  if (stored && !isConflict.peek() && isSame(next, draftOf(present.peek()!, stored))) forget(next.name)
  else put(next)
}

/** What a saved draft is on the server, until it is asked for again. */
function saved({ name, code, kind, metadata }: Draft, version: number): Opened {
  const at = new Date().toISOString().slice(0, 19).replace('T', ' ')
  const older = (opened.peek()?.name === name ? opened.peek()!.versions : []).map((one) => ({
    ...one,
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
  saveTrouble.value = undefined
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
      opened.value = saved(mine, version)
      const now = drafts.peek().get(name)
      if (now === mine) forget(name)
      else if (now) put({ ...now, base: version })
    })
  } catch (error) {
    isStale = error instanceof Trouble && error.code === 'conflict'
    if (!isStale) saveTrouble.value = error
  } finally {
    isSaving.value = false
  }
  void refresh()
  if (isStale || saveTrouble.peek() === undefined) await look()
}

/** Saves what is written as the newest version; the other stays among the versions. */
export function saveAnyway(): void {
  const mine = draft.peek()
  const there = present.peek()
  if (!mine || !there) return
  put({ ...mine, base: newestOf(there) })
  void save()
}

effect(() => {
  if (openName.value === undefined) return
  openTrouble.value = undefined
  saveTrouble.value = undefined
  void look()
})

onChange(() => {
  void refresh()
  void look()
})
