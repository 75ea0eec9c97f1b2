import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { markdown } from '@codemirror/lang-markdown'
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { EditorState } from '@codemirror/state'
import { drawSelection, EditorView, keymap, placeholder } from '@codemirror/view'
import { tags } from '@lezer/highlight'

export interface EditorProps {
  value: string
  /** Says what is edited. */
  label: string
  placeholder?: string
  /** Highlights Markdown, unless something else is edited. */
  language?: 'markdown' | 'text'
  readOnly?: boolean
  onInput: (value: string) => void
}

const colors = HighlightStyle.define([
  { tag: tags.heading, fontWeight: '700', color: 'var(--text)' },
  { tag: tags.strong, fontWeight: '700' },
  { tag: tags.emphasis, fontStyle: 'italic' },
  { tag: tags.strikethrough, textDecoration: 'line-through' },
  { tag: [tags.link, tags.url], color: 'var(--accent-text)' },
  { tag: [tags.monospace, tags.string], fontFamily: 'var(--mono)', color: 'var(--accent-text)' },
  { tag: [tags.processingInstruction, tags.meta, tags.comment], color: 'var(--soft)' },
  { tag: [tags.keyword, tags.tagName, tags.propertyName], color: 'var(--accent-text)' },
])

const look = EditorView.theme({
  '&': { height: '100%', color: 'var(--text)', backgroundColor: 'transparent', fontSize: '1rem' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'inherit', lineHeight: '1.6', padding: '0' },
  '.cm-content': { padding: '0.75rem 1rem', caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-placeholder': { color: 'var(--soft)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    background: 'var(--selection)',
  },
})

/** The one change that makes a text another: the cursor stays where nothing changed. */
function difference(before: string, after: string): { from: number; to: number; insert: string } {
  const shortest = Math.min(before.length, after.length)
  let from = 0
  while (from < shortest && before[from] === after[from]) from++
  let same = 0
  while (same < shortest - from && before[before.length - 1 - same] === after[after.length - 1 - same]) same++
  return { from, to: before.length - same, insert: after.slice(from, after.length - same) }
}

/** Puts an editor into an element. `onType` hears what somebody typed, not what was put in with `replace`. */
export function openEditor(parent: HTMLElement, props: EditorProps, onType: (value: string) => void) {
  let isReplacing = false
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: props.value,
      extensions: [
        history(),
        drawSelection(),
        // Tab leaves the editor, as people who use no mouse need it to.
        keymap.of([...defaultKeymap, ...historyKeymap]),
        props.language === 'text' ? [] : markdown(),
        syntaxHighlighting(colors),
        look,
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({
          'aria-label': props.label,
          spellcheck: 'true',
          autocapitalize: 'sentences',
          tabindex: '0',
        }),
        placeholder(props.placeholder ?? ''),
        EditorState.readOnly.of(props.readOnly ?? false),
        EditorView.updateListener.of((update) => {
          if (update.docChanged && !isReplacing) onType(update.state.doc.toString())
        }),
      ],
    }),
  })
  return {
    replace(value: string) {
      isReplacing = true
      view.dispatch({ changes: difference(view.state.doc.toString(), value.replace(/\r\n?/g, '\n')) })
      isReplacing = false
    },
    destroy: () => view.destroy(),
  }
}
