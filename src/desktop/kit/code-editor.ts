import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { css } from '@codemirror/lang-css'
import { html } from '@codemirror/lang-html'
import { javascript } from '@codemirror/lang-javascript'
import { markdown } from '@codemirror/lang-markdown'
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language'
import { EditorState, type Extension } from '@codemirror/state'
import { drawSelection, EditorView, keymap, lineNumbers, placeholder } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { applyFormat, type Format } from './formatted-text/format-commands.ts'
import { formattedText, type NoteLinks } from './formatted-text/formatted-text.ts'
import { makeLineBreaks } from './line-breaks.ts'

export interface EditorProps {
  value: string
  /** Accessible name. */
  label: string
  placeholder?: string
  /** Default: `markdown`. Code has line numbers. */
  language?: 'markdown' | 'text' | 'css' | 'js' | 'html'
  /** Shows Markdown as formatted text, with links between entries if given. */
  formatted?: boolean | NoteLinks
  readOnly?: boolean
  onInput: (value: string) => void
}

const highlightStyle = HighlightStyle.define([
  { tag: tags.heading, fontWeight: '700', color: 'var(--text)' },
  { tag: tags.strong, fontWeight: '700' },
  { tag: tags.emphasis, fontStyle: 'italic' },
  { tag: tags.strikethrough, textDecoration: 'line-through' },
  { tag: [tags.link, tags.url], color: 'var(--accent-text)' },
  { tag: [tags.monospace, tags.string], fontFamily: 'var(--mono)', color: 'var(--accent-text)' },
  { tag: [tags.processingInstruction, tags.meta, tags.comment], color: 'var(--soft)' },
  { tag: [tags.keyword, tags.tagName, tags.propertyName], color: 'var(--accent-text)' },
])

const codeExtensions: Extension = [
  lineNumbers(),
  bracketMatching(),
  indentOnInput(),
  EditorView.contentAttributes.of({ spellcheck: 'false', autocapitalize: 'off', autocorrect: 'off', translate: 'no' }),
  EditorView.theme({
    '&': { fontSize: '0.9rem' },
    '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.5' },
    '.cm-content': { padding: '0.6rem 0.6rem 0.6rem 0' },
    '.cm-gutters': { backgroundColor: 'transparent', border: '0', color: 'var(--soft)' },
    '&.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--wash)' },
  }),
]

const proseExtensions: Extension = EditorView.contentAttributes.of({ spellcheck: 'true', autocapitalize: 'sentences' })

/** Pasted text without what no row can hold: U+0000 is left out, and a lone half of a surrogate pair replaced. */
const storable = EditorView.clipboardInputFilter.of((text) => text.replaceAll('\0', '').toWellFormed())

/** All of them are loaded anyway: Markdown highlights code blocks. */
const languages: Record<NonNullable<EditorProps['language']>, () => Extension> = {
  markdown: () => [markdown(), proseExtensions],
  text: () => proseExtensions,
  css: () => [css(), codeExtensions],
  js: () => [javascript(), codeExtensions],
  html: () => [html(), codeExtensions],
}

const theme = EditorView.theme({
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

/** The smallest replacement that turns one text into the other; it keeps the cursor in place. */
function minimalChange(before: string, after: string): { from: number; to: number; insert: string } {
  const shortest = Math.min(before.length, after.length)
  let from = 0
  while (from < shortest && before[from] === after[from]) from++
  let same = 0
  while (same < shortest - from && before[before.length - 1 - same] === after[after.length - 1 - same]) same++
  return { from, to: before.length - same, insert: after.slice(from, after.length - same) }
}

/** What the owner of an editor may do with it. */
export interface EditorControls {
  replace(value: string): void
  format(format: Format): void
  destroy(): void
}

function languageOf({ language = 'markdown', formatted = false }: EditorProps): Extension {
  if (language !== 'markdown' || formatted === false) return languages[language]()
  return [formattedText(formatted === true ? undefined : formatted), proseExtensions]
}

/** Creates an editor in an element. `onType` is called for the user's input, not for `replace`. */
export function openEditor(parent: HTMLElement, props: EditorProps, onType: (value: string) => void): EditorControls {
  let isReplacing = false
  const lineBreaks = makeLineBreaks(props.value)
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: props.value,
      extensions: [
        history(),
        drawSelection(),
        storable,
        // Tab moves the focus, for keyboard users; it does not indent.
        keymap.of([...defaultKeymap, ...historyKeymap]),
        languageOf(props),
        syntaxHighlighting(highlightStyle),
        theme,
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({
          'aria-label': props.label,
          tabindex: '0',
        }),
        placeholder(props.placeholder ?? ''),
        EditorState.readOnly.of(props.readOnly ?? false),
        EditorView.updateListener.of((update) => {
          if (!update.docChanged || isReplacing) return
          lineBreaks.follow(update.changes, update.startState.doc)
          onType(lineBreaks.textOf(update.state.doc))
        }),
      ],
    }),
  })
  return {
    replace(value: string) {
      isReplacing = true
      lineBreaks.replace(value)
      view.dispatch({ changes: minimalChange(view.state.doc.toString(), value.replace(/\r\n?/g, '\n')) })
      isReplacing = false
    },
    format: (format) => void applyFormat(view, format),
    destroy: () => view.destroy(),
  }
}
