import { syntaxTree } from '@codemirror/language'
import { EditorSelection, type EditorState } from '@codemirror/state'
import type { EditorView, KeyBinding } from '@codemirror/view'
import { toggleTask } from './widgets.ts'

/** What a button or key does to the selection. */
export type Format = 'bold' | 'italic' | 'strike' | 'code' | 'heading' | 'bullets' | 'numbers' | 'tasks' | 'quote'

const inline: Partial<Record<Format, string>> = { bold: '**', italic: '*', strike: '~~', code: '`' }

/** Applies a format to the selection, or removes it. */
export function applyFormat(view: EditorView, format: Format): boolean {
  if (view.state.readOnly) return false
  const mark = inline[format]
  if (mark === undefined) formatLines(view, format)
  else toggleMark(view, mark)
  view.focus()
  return true
}

function toggleMark(view: EditorView, mark: string): void {
  const { state } = view
  const length = mark.length
  const change = state.changeByRange(({ from, to }) => {
    const [start, end] = from === to ? wordAt(state, from) : [from, to]
    const isOutside = state.sliceDoc(start - length, start) === mark && state.sliceDoc(end, end + length) === mark
    // The `*` of a bold text are not those of an italic one.
    const isOfLonger =
      mark === '*' && state.sliceDoc(start - 2, start) === '**' && state.sliceDoc(start - 3, start) !== '***'
    if (isOutside && !isOfLonger) {
      return {
        changes: [
          { from: start - length, to: start },
          { from: end, to: end + length },
        ],
        range: EditorSelection.range(from - length, to - length),
      }
    }
    return {
      changes: [
        { from: start, insert: mark },
        { from: end, insert: mark },
      ],
      range: EditorSelection.range(from + length, to + length),
    }
  })
  view.dispatch(state.update(change, { userEvent: 'input.format', scrollIntoView: true }))
}

function wordAt(state: EditorState, position: number): [number, number] {
  const word = state.wordAt(position)
  return word ? [word.from, word.to] : [position, position]
}

/** How each kind of line is recognised, and what it begins with; `number` counts from 1. */
const kinds: Partial<Record<Format, { pattern: RegExp; start: (number: number) => string }>> = {
  bullets: { pattern: /^[-*+] (?!\[[ xX]\] )/, start: () => '- ' },
  tasks: { pattern: /^[-*+] \[[ xX]\] /, start: () => '- [ ] ' },
  numbers: { pattern: /^\d+[.)] /, start: (number) => `${number}. ` },
  quote: { pattern: /^> ?/, start: () => '> ' },
}
const ANY_START = /^(?:[-*+] (?:\[[ xX]\] )?|\d+[.)] |> ?|#{1,6} )/

/** Headings go round: none, 1, 2, 3, none. */
const nextHeading = (line: string): string => {
  const level = /^(#{1,6}) /.exec(line)?.[1]?.length ?? 0
  return level >= 3 ? '' : `${'#'.repeat(level + 1)} `
}

function formatLines(view: EditorView, format: Format): void {
  const { state } = view
  const { from, to } = state.selection.main
  const first = state.doc.lineAt(from).number
  const last = state.doc.lineAt(to).number
  const lines = Array.from({ length: last - first + 1 }, (_, index) => state.doc.line(first + index))
  const texts = lines.map(({ text }) => text.trimStart())
  const kind = kinds[format]
  const isRemoved = kind !== undefined && texts.every((text) => kind.pattern.test(text))
  const changes = lines.map(({ from: start, text }, index) => {
    const rest = texts[index]!
    const begin = start + text.length - rest.length
    const old = ANY_START.exec(rest)?.[0] ?? ''
    const insert = isRemoved ? '' : kind ? kind.start(index + 1) : nextHeading(rest)
    return { from: begin, to: begin + old.length, insert }
  })
  // A cursor at the start of its line belongs behind the mark.
  const made = state.changes(changes)
  view.dispatch({
    changes: made,
    selection: state.selection.map(made, 1),
    userEvent: 'input.format',
    scrollIntoView: true,
  })
}

/** Ticks the box of the cursor's line. */
function toggleTaskOfLine(view: EditorView): boolean {
  const { state } = view
  const line = state.doc.lineAt(state.selection.main.head)
  let position: number | undefined
  syntaxTree(state).iterate({
    from: line.from,
    to: line.to,
    enter: ({ name, from }) => {
      if (name === 'TaskMarker' && from >= line.from) position ??= from
    },
  })
  return position !== undefined && toggleTask(view, position)
}

export const formatKeys: readonly KeyBinding[] = [
  { key: 'Mod-b', run: (view) => applyFormat(view, 'bold') },
  { key: 'Mod-i', run: (view) => applyFormat(view, 'italic') },
  { key: 'Mod-e', run: (view) => applyFormat(view, 'code') },
  { key: 'Mod-Shift-x', run: (view) => applyFormat(view, 'strike') },
  { key: 'Mod-Shift-7', run: (view) => applyFormat(view, 'numbers') },
  { key: 'Mod-Shift-8', run: (view) => applyFormat(view, 'bullets') },
  { key: 'Mod-Shift-9', run: (view) => applyFormat(view, 'tasks') },
  { key: 'Mod-Enter', run: toggleTaskOfLine },
]
