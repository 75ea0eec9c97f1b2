import { makeComposer, type Composer } from './composer.ts'
import type { HistoryLine } from './history-layout.ts'
import { clip, type Span } from './spans.ts'

export interface ListItem {
  label: Span[]
  /** The text that is searched. */
  find: string
  choose: () => void
}

/** A list in place of the history. */
export interface SelectList {
  title: string
  filter: Composer
  key: (key: string) => boolean
  chosen: () => ListItem | undefined
  lines: (width: number, rows: number) => HistoryLine[]
}

export function makeSelectList(title: string, items: readonly ListItem[], empty: string): SelectList {
  const filter = makeComposer()
  let index = 0
  const matching = (): ListItem[] => {
    const words = filter.text().toLowerCase().split(/\s+/).filter(Boolean)
    return items.filter(({ find }) => words.every((word) => find.toLowerCase().includes(word)))
  }
  const go = (by: number): void => {
    index = Math.max(0, Math.min(matching().length - 1, index + by))
  }
  const keys: Record<string, number> = { up: -1, down: 1, pageup: -10, pagedown: 10, 'ctrl-p': -1, 'ctrl-n': 1 }
  return {
    title,
    filter,
    key(key) {
      if (Object.hasOwn(keys, key)) go(keys[key]!)
      else if (!filter.key(key)) return false
      go(0)
      return true
    },
    chosen: () => matching()[Math.min(index, matching().length - 1)],
    lines(width, rows) {
      const found = matching()
      go(0)
      const room = Math.max(1, rows - 2)
      const from = Math.max(0, Math.min(index - Math.floor(room / 2), found.length - room))
      const shown = found.slice(from, from + room).map(({ label }, row): HistoryLine => {
        const marked = from + row === index
        const line = clip([{ text: marked ? '› ' : '  ' }, ...label], width)
        return { line: marked ? line.map((span) => ({ ...span, inverse: true })) : line }
      })
      const none: HistoryLine = { line: [{ text: `  ${items.length === 0 ? empty : 'Nothing fits.'}`, dim: true }] }
      const all = [{ line: [{ text: title, bold: true }] }, { line: [] }, ...(shown.length > 0 ? shown : [none])]
      // Fill up at the end: a list begins at the top.
      return [...all, ...Array.from({ length: Math.max(0, rows - all.length) }, () => ({ line: [] }))]
    },
  }
}
