import type { ChalkInstance } from 'chalk'
import { Lexer, type Token, type Tokens } from 'marked'
import stringWidth from 'string-width'
import { printable } from '../base/text.ts'

type Style = (text: string) => string

interface StyledText {
  text: string
  style: Style
}

interface Layout {
  paint: ChalkInstance
  /** Of the terminal. */
  width: number
}

const plain: Style = (text) => text

const safe = (text: string): string => printable(text.replaceAll('\t', '    '))

/** HTML entities that models write in Markdown. */
const ENTITIES: Record<string, string> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&nbsp;': ' ',
}

const unescapeEntities = (text: string): string =>
  text.replace(/&(amp|lt|gt|quot|nbsp|#39);/g, (entity) => ENTITIES[entity] ?? entity)

function linkText(token: Tokens.Link, { paint }: Layout, inner: StyledText[]): StyledText[] {
  const shown = inner.map(({ text }) => text).join('')
  const underlined = inner.map(({ text, style }) => ({ text, style: (part: string) => paint.underline(style(part)) }))
  if (shown === token.href || `mailto:${shown}` === token.href) return underlined
  // Show the address, because the text of a link can be misleading.
  return [...underlined, { text: ` (${safe(token.href)})`, style: paint.dim }]
}

function inline(tokens: readonly Token[], layout: Layout, style: Style = plain): StyledText[] {
  const { paint } = layout
  const within = (token: Token, more: Style): StyledText[] =>
    inline((token as { tokens?: Token[] }).tokens ?? [], layout, (text) => more(style(text)))
  return tokens.flatMap((token): StyledText[] => {
    switch (token.type) {
      case 'strong':
        return within(token, paint.bold)
      case 'em':
        return within(token, paint.italic)
      case 'del':
        return within(token, paint.strikethrough)
      case 'codespan':
        return [{ text: safe((token as Tokens.Codespan).text), style: (text) => paint.cyan(style(text)) }]
      case 'checkbox':
        return []
      case 'br':
        return [{ text: '\n', style }]
      case 'link':
        return linkText(token as Tokens.Link, layout, within(token, plain))
      case 'image':
        // Images are not fetched: the URL in an answer could leak what was read.
        return [{ text: `[picture: ${safe((token as Tokens.Image).text || 'without a name')}]`, style: paint.dim }]
      default: {
        const { tokens: below, text = token.raw } = token as { tokens?: Token[]; text?: string; raw: string }
        if (below) return inline(below, layout, style)
        return [{ text: safe(unescapeEntities(text).replace(/\s+/g, ' ')), style }]
      }
    }
  })
}

/** Wraps styled text to a width, breaking between words; longer words stay whole. */
function wrap(pieces: readonly StyledText[], width: number): string[] {
  const lines: string[] = []
  let line = { text: '', columns: 0 }
  let word = { text: '', columns: 0 }
  let gap = { text: '', columns: 0 }
  const endWord = (): void => {
    if (word.columns === 0) return
    if (line.columns > 0 && line.columns + gap.columns + word.columns > width) endLine()
    const before = line.columns > 0 ? gap : { text: '', columns: 0 }
    line = { text: line.text + before.text + word.text, columns: line.columns + before.columns + word.columns }
    word = { text: '', columns: 0 }
    gap = { text: '', columns: 0 }
  }
  const endLine = (): void => {
    lines.push(line.text)
    line = { text: '', columns: 0 }
  }
  for (const { text, style } of pieces) {
    for (const part of text.split(/(\n| +)/)) {
      if (part === '') continue
      if (part === '\n') {
        endWord()
        endLine()
      } else if (part.trim() === '') {
        endWord()
        gap = { text: style(part), columns: part.length }
      } else word = { text: word.text + style(part), columns: word.columns + stringWidth(part) }
    }
  }
  endWord()
  endLine()
  return lines
}

const indent = (lines: string[], first: string, others: string): string[] =>
  lines.map((line, index) => (line === '' && index > 0 ? '' : (index === 0 ? first : others) + line))

function listLines({ items, ordered, start }: Tokens.List, { paint, width }: Layout): string[] {
  const last = String(Number(start || 1) + items.length - 1).length
  return items.flatMap(({ tokens, task, checked, loose }, index) => {
    const number = `${Number(start || 1) + index}.`.padStart(last + 1)
    const mark = task ? (checked ? '[x]' : '[ ]') : ordered ? number : '•'
    // The checkbox of a task is a token of its own, here or at the start of its first paragraph.
    const inner = blockLinesOf(
      tokens.filter(({ type }) => type !== 'checkbox'),
      { paint, width: width - mark.length - 1 },
      loose,
    )
    return indent(inner.length > 0 ? inner : [''], `${paint.dim(mark)} `, ' '.repeat(mark.length + 1))
  })
}

const COLUMN_GAP = '  '
/** Narrowest column, however narrow the terminal is. */
const NARROWEST = 8

function fitColumns(widths: number[], width: number): number[] {
  const fitted = [...widths]
  let excess = fitted.reduce((sum, one) => sum + one, 0) - width
  for (; excess > 0; excess--) {
    const widest = fitted.indexOf(Math.max(...fitted))
    if (fitted[widest]! <= NARROWEST) break
    fitted[widest]!--
  }
  return fitted
}

function tableLines({ header, align, rows }: Tokens.Table, layout: Layout): string[] {
  const cell = (tokens: Token[], style: Style = plain) => inline(tokens, layout, style)
  const all = [
    header.map(({ tokens }) => cell(tokens, layout.paint.bold)),
    ...rows.map((row) => row.map(({ tokens }) => cell(tokens))),
  ]
  const columnsOf = (pieces: StyledText[]): number => stringWidth(pieces.map(({ text }) => text).join(''))
  const widths = fitColumns(
    header.map((_, column) => Math.max(...all.map((row) => columnsOf(row[column] ?? [])))),
    layout.width - COLUMN_GAP.length * (header.length - 1),
  )
  const filled = (text: string, column: number): string => {
    const filling = ' '.repeat(Math.max(0, widths[column]! - stringWidth(text)))
    return align[column] === 'right' ? filling + text : text + filling
  }
  return all.flatMap((row) => {
    const cells = row.map((pieces, column) => wrap(pieces, widths[column]!))
    const height = Math.max(...cells.map(({ length }) => length))
    return Array.from({ length: height }, (_, line) =>
      cells
        .map((lines, column) => filled(lines[line] ?? '', column))
        .join(COLUMN_GAP)
        .trimEnd(),
    )
  })
}

function blockLines(token: Token, layout: Layout): string[] {
  const { paint, width } = layout
  switch (token.type) {
    case 'heading':
      return wrap(inline((token as Tokens.Heading).tokens, layout, paint.bold), width)
    case 'code':
      return (token as Tokens.Code).text.split('\n').map((line) => `  ${paint.cyan(safe(line))}`)
    case 'blockquote': {
      const inner = blockLinesOf((token as Tokens.Blockquote).tokens, { paint, width: width - 2 })
      return inner.map((line) => `${paint.dim('│')} ${line}`.trimEnd())
    }
    case 'list':
      return listLines(token as Tokens.List, layout)
    case 'table':
      return tableLines(token as Tokens.Table, layout)
    case 'hr':
      return [paint.dim('─'.repeat(Math.min(width, 40)))]
    case 'space':
    case 'def':
      return []
    default: {
      const { tokens, raw } = token as { tokens?: Token[]; raw: string }
      return wrap(
        tokens
          ? inline(tokens, layout)
          : raw
              .trimEnd()
              .split('\n')
              .flatMap((line, index) => [
                ...(index > 0 ? [{ text: '\n', style: plain }] : []),
                { text: safe(line), style: plain },
              ]),
        width,
      )
    }
  }
}

/** Renders blocks, separated by blank lines unless the list is tight. */
function blockLinesOf(tokens: readonly Token[], layout: Layout, isLoose = true): string[] {
  const lines: string[] = []
  for (const token of tokens) {
    const own = blockLines(token, layout)
    if (own.length === 0) continue
    if (lines.length > 0 && isLoose) lines.push('')
    lines.push(...own)
  }
  return lines
}

/** Deeper nesting is shown as source: parsing it needs stack for each level. */
const NESTING = 40

const isDeeplyNested = (source: string): boolean =>
  source
    .split('\n')
    .some(
      (line) =>
        /^[\s>*+-]*/.exec(line)![0].replace(/\s/g, '').length > NESTING ||
        line.length - line.trimStart().length > 4 * NESTING,
    )

/** Blocks of GitHub Flavored Markdown. Text that nests too deeply becomes one code block. */
export function parseBlocks(source: string): Token[] {
  if (isDeeplyNested(source)) return [{ type: 'code', raw: source, text: source } as Tokens.Code]
  return new Lexer({ gfm: true }).lex(source.replace(/\r\n?/g, '\n'))
}

/** Renders blocks as terminal lines, safe to print for text from anyone. */
export const renderBlocks = (tokens: readonly Token[], layout: Layout): string[] => blockLinesOf(tokens, layout)
