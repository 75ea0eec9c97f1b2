import { autocompletion, type Completion } from '@codemirror/autocomplete'
import type { Extension } from '@codemirror/state'
import type { MarkdownConfig } from '@lezer/markdown'

const OPEN = '['.charCodeAt(0)
const CLOSE = ']'.charCodeAt(0)

/** Longest title in a link, UTF-16 code units: that of a note. */
const LONGEST = 500

/** Adds `[[Title]]` to Markdown: a link to the entry with that title, as in Obsidian. */
export const noteLinkSyntax: MarkdownConfig = {
  defineNodes: ['NoteLink', 'NoteLinkMark'],
  parseInline: [
    {
      name: 'NoteLink',
      before: 'Link',
      parse(context, next, position) {
        if (next !== OPEN || context.char(position + 1) !== OPEN) return -1
        const last = Math.min(context.end - 1, position + 2 + LONGEST)
        for (let end = position + 2; end < last; end++) {
          if (context.char(end) === OPEN) return -1
          if (context.char(end) !== CLOSE) continue
          if (context.char(end + 1) !== CLOSE || end === position + 2) return -1
          return context.addElement(
            context.elt('NoteLink', position, end + 2, [
              context.elt('NoteLinkMark', position, position + 2),
              context.elt('NoteLinkMark', end, end + 2),
            ]),
          )
        }
        return -1
      },
    },
  ],
}

/** Offers titles after `[[`. */
export function completeNoteLinks(titles: () => readonly string[]): Extension {
  return autocompletion({
    icons: false,
    // Enter takes what is selected, however fast somebody types.
    interactionDelay: 0,
    override: [
      (context) => {
        const typed = context.matchBefore(/\[\[[^[\]]*$/)
        if (!typed) return null
        return { from: typed.from + 2, options: titles().map(optionOf), validFor: /^[^[\]]*$/ }
      },
    ],
  })
}

const optionOf = (title: string): Completion => ({
  label: title,
  apply(view, _, from, to) {
    const isClosed = view.state.sliceDoc(to, to + 2) === ']]'
    const insert = isClosed ? title : `${title}]]`
    view.dispatch({
      changes: { from, to, insert },
      selection: { anchor: from + title.length + 2 },
      userEvent: 'input.complete',
    })
  },
})
