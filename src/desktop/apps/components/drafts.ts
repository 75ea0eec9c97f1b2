import { batch, signal } from '@preact/signals'
import { bridge } from '../../kit/bridge.ts'
import type { PreviewedComponent } from '../../wire/protocol.ts'

/** Unsaved code of a component. */
export interface Draft {
  name: string
  kind: PreviewedComponent['component_type']
  code: string
  metadata: Record<string, unknown>
  /** Newest version when editing began; 0 for a new component. */
  base: number
}

const KEY = 'drafts'

/** Longest stored text, characters; beyond it, the least recently changed drafts are lost with the window. */
const MAX_STORED = 900_000

/** By name, most recently changed last. */
export const drafts = signal<ReadonlyMap<string, Draft>>(new Map())

function save(): void {
  const all = [...drafts.value.values()]
  let text = JSON.stringify(all)
  while (text.length > MAX_STORED) {
    all.shift()
    text = JSON.stringify(all)
  }
  bridge.setItem(KEY, all.length > 0 ? text : null)
  bridge.setUnsaved(drafts.value.size > 0)
}

export function putDraft(draft: Draft): void {
  const next = new Map(drafts.value)
  next.delete(draft.name)
  drafts.value = next.set(draft.name, draft)
  save()
}

export function discardDraft(name: string): void {
  const next = new Map(drafts.value)
  next.delete(name)
  drafts.value = next
  save()
}

/** Restores the drafts of an earlier page. */
export async function restore(): Promise<void> {
  const text = await bridge.getItem(KEY)
  const stored = text === null ? [] : (JSON.parse(text) as Draft[])
  batch(() => {
    for (const draft of stored) if (!drafts.value.has(draft.name)) putDraft(draft)
  })
}
