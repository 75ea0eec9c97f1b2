import stringWidth from 'string-width'

/** Colours are `#rrggbb` or one of the terminal's own. */
export interface Style {
  color?: string
  bold?: boolean
  dim?: boolean
  italic?: boolean
  underline?: boolean
  inverse?: boolean
}

export interface Span extends Style {
  text: string
}

export type Line = readonly Span[]

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })

export function graphemesOf(text: string): string[] {
  if (/^[ -~\n]*$/.test(text)) return text.split('')
  return Array.from(segmenter.segment(text), ({ segment }) => segment)
}

export const widthOf = (text: string): number => (/^[ -~]*$/.test(text) ? text.length : stringWidth(text))

export const lineWidth = (line: Line): number => line.reduce((sum, { text }) => sum + widthOf(text), 0)

export function clip(line: Line, width: number): Span[] {
  if (lineWidth(line) <= width) return [...line]
  const kept: Span[] = []
  let room = width - 1
  for (const span of line) {
    let text = ''
    for (const grapheme of graphemesOf(span.text)) {
      const columns = widthOf(grapheme)
      if (columns > room) return width > 0 ? [...kept, { ...span, text: `${text}…` }] : []
      text += grapheme
      room -= columns
    }
    kept.push({ ...span, text })
  }
  return kept
}

export function fit(line: Line, width: number, filling: Style = {}): Span[] {
  const cut = clip(line, width)
  return [...cut, { ...filling, text: ' '.repeat(Math.max(0, width - lineWidth(cut))) }]
}

/** Breaks a line at spaces, and words that are too long anywhere, so that nothing is wider than `width`. */
export function wrap(line: Line, width: number): Span[][] {
  const most = Math.max(2, width)
  const lines: Span[][] = []
  let current: Span[] = []
  let used = 0
  const add = (span: Span, text: string, columns: number): void => {
    const last = current.at(-1)
    if (last && sameStyle(last, span)) last.text += text
    else current.push({ ...span, text })
    used += columns
  }
  const end = (): void => {
    lines.push(current)
    current = []
    used = 0
  }
  for (const span of line) {
    for (const piece of span.text.match(/ +|[^ ]+/g) ?? []) {
      const columns = widthOf(piece)
      if (used + columns <= most) add(span, piece, columns)
      else if (piece.startsWith(' ')) {
        // The space at a line break is not shown.
        if (used > 0) end()
      } else {
        if (used > 0 && columns <= most) end()
        if (columns <= most) add(span, piece, columns)
        else {
          for (const grapheme of graphemesOf(piece)) {
            const wide = widthOf(grapheme)
            if (used + wide > most) end()
            add(span, grapheme, wide)
          }
        }
      }
    }
  }
  end()
  return lines
}

const sameStyle = (a: Span, b: Span): boolean =>
  a.color === b.color &&
  a.bold === b.bold &&
  a.dim === b.dim &&
  a.italic === b.italic &&
  a.underline === b.underline &&
  a.inverse === b.inverse
