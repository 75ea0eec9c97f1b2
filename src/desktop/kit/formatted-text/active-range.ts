import { StateEffect, StateField, type EditorState } from '@codemirror/state'
import { EditorView } from '@codemirror/view'

const setFocused = StateEffect.define<boolean>()

/** Whether the editor has the focus. A text that is only read shows no Markdown, wherever its cursor is. */
const focusField = StateField.define<boolean>({
  create: () => false,
  update: (isFocused, { effects }) => effects.find((effect) => effect.is(setFocused))?.value ?? isFocused,
})

/** Required by `isActive`. */
export const activeRange = [focusField, EditorView.focusChangeEffect.of((_, focusing) => setFocused.of(focusing))]

export const isFocusChanged = (before: EditorState, after: EditorState): boolean =>
  before.field(focusField) !== after.field(focusField)

/** Whether the cursor or the selection touches the range, so that its Markdown is shown to be edited. */
export const isActive = (state: EditorState, from: number, to: number): boolean =>
  state.field(focusField) && state.selection.ranges.some((range) => range.from <= to && range.to >= from)
