import { bridge } from '../../kit/bridge.ts'
import type { AnswerOf } from '../../wire/actions.ts'

export type ChangeSet = AnswerOf<'assistant.changes'>['changes'][number]
export type UndoAnswer = AnswerOf<'assistant.undo'>

/** A change set; undefined if it no longer exists. */
export async function changeSet(id: number): Promise<ChangeSet | undefined> {
  const { changes } = await bridge.call('assistant.changes', { before: id + 1, limit: 1 })
  return changes.find(({ change_set_id }) => change_set_id === id)
}

/** Undoes a change set, except for what was changed again since. */
export const undo = (change_set_id: number): Promise<UndoAnswer> => bridge.call('assistant.undo', { change_set_id })
