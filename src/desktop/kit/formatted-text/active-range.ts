import { syntaxTree } from '@codemirror/language'
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

/** Whether what is drawn may differ after an update or transaction. */
export const mayLookDifferent = (before: EditorState, after: EditorState): boolean =>
  before.doc !== after.doc ||
  before.selection !== after.selection ||
  before.field(focusField) !== after.field(focusField) ||
  syntaxTree(before) !== syntaxTree(after)

/** Whether the cursor or the selection touches the range, so that its Markdown is shown to be edited. */
export const isActive = (state: EditorState, from: number, to: number): boolean =>
  state.field(focusField) && state.selection.ranges.some((range) => range.from <= to && range.to >= from)
