import { syntaxTree } from '@codemirror/language'
import { RangeSetBuilder, StateField, type EditorState } from '@codemirror/state'
import { Decoration, EditorView, type DecorationSet } from '@codemirror/view'
import { isActive, mayLookDifferent } from './active-range.ts'
import { Rendered } from './widgets.ts'

/** Longest table that is drawn as one, UTF-16 code units: all of it is drawn, whatever part is seen. */
export const MAX_TABLE = 20_000

/** Tables look like tables unless the cursor is in them. Whole lines are replaced, which only a field of the state may do. */
export const formattedTables = StateField.define<DecorationSet>({
  create: tablesOf,
  update: (tables, { startState, state }) => (mayLookDifferent(startState, state) ? tablesOf(state) : tables),
  provide: (field) => EditorView.decorations.from(field),
})

function tablesOf(state: EditorState): DecorationSet {
  const tables = new RangeSetBuilder<Decoration>()
  // Tables in lists and quotations keep their Markdown: their lines contain other marks.
  for (let node = syntaxTree(state).topNode.firstChild; node; node = node.nextSibling) {
    if (node.name !== 'Table' || node.to - node.from > MAX_TABLE || isActive(state, node.from, node.to)) continue
    const widget = new Rendered(state.sliceDoc(node.from, node.to), true)
    tables.add(
      state.doc.lineAt(node.from).from,
      state.doc.lineAt(node.to).to,
      Decoration.replace({ widget, block: true }),
    )
  }
  return tables.finish()
}
