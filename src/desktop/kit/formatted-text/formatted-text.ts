import { markdown, markdownLanguage } from '@codemirror/lang-markdown'
import { Prec, type Extension } from '@codemirror/state'
import { Decoration, EditorView, keymap, ViewPlugin, type DecorationSet } from '@codemirror/view'
import { activeRange, mayLookDifferent } from './active-range.ts'
import { formatKeys } from './format-commands.ts'
import { decorationsOf } from './marks.ts'
import { completeNoteLinks, noteLinkSyntax } from './note-links.ts'
import { formattedTables } from './tables.ts'

/** Links by title, `[[Title]]`. */
export interface NoteLinks {
  titles(): readonly string[]
  has(title: string): boolean
  /** Opens the entry of a title, or creates it. */
  open(title: string): void
}

/** Where there are no titles, `[[Title]]` looks like a link and leads nowhere. */
const noLinks: NoteLinks = { titles: () => [], has: () => true, open: () => undefined }

/**
 * Markdown that looks like what it means. The document of the editor stays the Markdown, so nothing is lost or rewritten; marks are
 * hidden and pictures, tables and boxes drawn in their place, except where the cursor is.
 */
export function formattedText(links: NoteLinks = noLinks): Extension {
  return [
    markdown({ base: markdownLanguage, extensions: [noteLinkSyntax] }),
    activeRange,
    formattedTables,
    drawMarks(links),
    completeNoteLinks(links.titles),
    followLinks(links),
    Prec.high(keymap.of(formatKeys)),
    EditorView.editorAttributes.of({ class: 'formatted' }),
  ]
}

const drawMarks = (links: NoteLinks) =>
  ViewPlugin.define(
    (view) => {
      const draw = (of: EditorView): DecorationSet => Decoration.set(decorationsOf(of, links.has), true)
      return {
        decorations: draw(view),
        update({ viewportChanged, startState, state, view: updated }) {
          if (viewportChanged || mayLookDifferent(startState, state)) this.decorations = draw(updated)
        },
      }
    },
    { decorations: (plugin) => plugin.decorations },
  )

/** A click on a drawn link follows it instead of setting the cursor; the app opens what has an address. */
const followLinks = (links: NoteLinks): Extension =>
  EditorView.domEventHandlers({
    mousedown: (event) => event.button === 0 && linkAt(event) !== undefined,
    click: (event) => {
      const title = linkAt(event)?.dataset['note']
      if (title === undefined) return false
      links.open(title)
      return true
    },
  })

const linkAt = ({ target }: MouseEvent): HTMLElement | undefined =>
  (target instanceof Element && target.closest<HTMLElement>('a[href], [data-note]')) || undefined
