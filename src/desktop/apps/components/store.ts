import { computed, effect, signal } from '@preact/signals'
import { bridge } from '../../kit/bridge.ts'
import { compareNames } from '../../kit/formats.ts'
import type { AnswerOf } from '../../wire/actions.ts'
import type { StoppedComponent } from '../../wire/protocol.ts'
import { drafts, type Draft } from './drafts.ts'

export type Listed = AnswerOf<'desktopComponents.overview'>['components'][number]
export type Kind = Listed['component_type']

export const kinds = ['css', 'js', 'widget'] as const satisfies readonly Kind[]

/** Components of the server; undefined until loaded. */
export const components = signal<readonly Listed[] | undefined>(undefined)
/** Error of the last load. */
export const listError = signal<unknown>(undefined)
export const searchText = signal('')

/** The content beside the list. */
export const view = signal<{ page: 'component'; name: string } | { page: 'profiles' } | undefined>(undefined)

/** Reloads the components. */
export async function refresh(): Promise<void> {
  try {
    components.value = (await bridge.call('desktopComponents.overview', {})).components
    listError.value = undefined
  } catch (error) {
    listError.value = error
  }
}

/** A row of the list: stored on the server, a local draft, or both. */
export interface Line {
  name: string
  kind: Kind
  listed: Listed | undefined
  draft: Draft | undefined
  /** Why the desktop stopped the active version. */
  stopped: StoppedComponent | undefined
}

const all = computed<readonly Line[]>(() => {
  const listed = new Map((components.value ?? []).map((one) => [one.component_id, one]))
  const names = [...new Set([...listed.keys(), ...drafts.value.keys()])]
  return names.map((name) => {
    const one = listed.get(name)
    const draft = drafts.value.get(name)
    const stopped = bridge.components.value.stopped.find(
      ({ component_id, version }) => component_id === name && version === one?.active,
    )
    return { name, kind: draft?.kind ?? one!.component_type, listed: one, draft, stopped }
  })
})

export const lineOf = (name: string): Line | undefined => all.value.find((line) => line.name === name)

/** Whether a component or draft has this name. */
export const isTaken = (name: string): boolean => lineOf(name) !== undefined

/** Rows of the list by kind and name. */
export const lines = computed(() => {
  const words = searchText.value.toLowerCase().split(/\s+/)
  return all.value
    .filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)))
    .toSorted((a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind) || compareNames(a.name, b.name))
})

/** Runs now, and whenever components change in this window or elsewhere. */
export function onChange(run: () => void): void {
  const inForce = computed(() => JSON.stringify(bridge.components.value.active))
  effect(() => {
    void inForce.value
    run()
  })
  document.addEventListener('visibilitychange', () => document.hidden || run())
}
