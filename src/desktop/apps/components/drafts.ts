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

const PREFIX = 'component:'

/** By name. */
export const drafts = signal<ReadonlyMap<string, Draft>>(new Map())

function setDraft(name: string, draft: Draft | undefined): void {
  const next = new Map(drafts.value)
  if (draft) next.set(name, draft)
  else next.delete(name)
  drafts.value = next
  void bridge.keepDraft(`${PREFIX}${name}`, draft ? JSON.stringify(draft) : null)
  bridge.setUnsaved(next.size > 0)
}

export const putDraft = (draft: Draft): void => setDraft(draft.name, draft)

export const discardDraft = (name: string): void => setDraft(name, undefined)

/** Restores the drafts of an earlier page. */
export async function restore(): Promise<void> {
  const stored = [...(await bridge.restoreDrafts(PREFIX)).values()].map((text) => JSON.parse(text) as Draft)
  batch(() => {
    for (const draft of stored) if (!drafts.value.has(draft.name)) putDraft(draft)
  })
}
