import { Parser } from 'htmlparser2'

export interface HtmlText {
  title: string | undefined
  text: string
}

/** Elements without text to read. */
const SKIPPED = new Set(['script', 'style', 'template', 'noscript', 'nav', 'svg', 'iframe', 'object', 'select', 'head'])

const BLOCKS = new Set(
  'address article aside blockquote dd details div dl dt fieldset figcaption figure footer form header hr main ol p pre section summary table tr ul'.split(
    ' ',
  ),
)

const HEADING = /^h[1-6]$/

/** Deepest nesting; legitimate pages stay far below. */
const DEPTH_MAX = 1_000

const TITLE_MAX = 300
const HREF_MAX = 2_000

/** The URL of a link that spans this many pieces or more is omitted. */
const LINK_PIECES = 200

/** Characters parsed before yielding to the event loop. */
const SLICE = 32_768

/** Builds the text while the page is parsed: blocks on separate lines, white space collapsed as in browsers. */
class Writer {
  depth = 0
  private title = ''
  private readonly pieces: string[] = []
  /** The last two characters written. */
  private tail = ''
  private skipping = 0
  private inTitle = false
  private preformatted = 0
  private mainFrom = -1
  private mainTo = -1
  private readonly links: { href: string; from: number }[] = []
  private readonly base: string

  constructor(base: string) {
    this.base = base
  }

  open(name: string, attributes: Record<string, string>): void {
    this.depth += 1
    if (name === 'title' && this.title === '') this.inTitle = true
    if (SKIPPED.has(name)) this.skipping += 1
    if (this.skipping > 0) return
    if (name === 'br') this.put('\n')
    if (BLOCKS.has(name) || name === 'li') this.breakLine(name === 'p' ? 2 : 1)
    if (HEADING.test(name)) {
      this.breakLine(2)
      this.put(`${'#'.repeat(Number(name[1]))} `)
    }
    if (name === 'li') this.put('- ')
    if (name === 'pre') this.preformatted += 1
    if (name === 'main' && this.mainFrom < 0) this.mainFrom = this.pieces.length
    if (name === 'a') this.links.push({ href: attributes['href'] ?? '', from: this.pieces.length })
  }

  close(name: string): void {
    this.depth -= 1
    if (name === 'title') this.inTitle = false
    if (SKIPPED.has(name)) {
      this.skipping -= 1
      return
    }
    if (this.skipping > 0) return
    if (name === 'a') this.endLink()
    if (name === 'td' || name === 'th') this.put(' | ')
    if (name === 'pre') this.preformatted -= 1
    if (name === 'main' && this.mainTo < 0) this.mainTo = this.pieces.length
    if (HEADING.test(name) || name === 'p') this.breakLine(2)
    else if (BLOCKS.has(name) || name === 'li') this.breakLine(1)
  }

  write(text: string): void {
    if (this.inTitle && this.title.length < TITLE_MAX) this.title += text
    if (this.skipping > 0) return
    if (this.preformatted > 0) return this.put(text)
    const joined = text.replace(/\s+/g, ' ')
    this.put(this.tail === '' || /\s$/.test(this.tail) ? joined.trimStart() : joined)
  }

  result(): HtmlText {
    const title = this.title.replace(/\s+/g, ' ').trim().slice(0, TITLE_MAX)
    const main = this.mainTo < 0 ? '' : this.pieces.slice(this.mainFrom, this.mainTo).join('').trim()
    const lines = (main || this.pieces.join('')).split('\n').map((line) => line.trimEnd())
    const text = lines.join('\n').replace(/\n{3,}/g, '\n\n')
    return { title: title || undefined, text: text.trim() }
  }

  // Keeps pieces and their last characters: inspecting the end of a growing string would copy it each time.
  private put(text: string): void {
    if (text === '') return
    this.pieces.push(text)
    this.tail = (this.tail + text.slice(-2)).slice(-2)
  }

  private endLink(): void {
    const link = this.links.pop()
    if (!link || link.href.startsWith('#') || link.href.length > HREF_MAX) return
    const url = URL.canParse(link.href, this.base) ? new URL(link.href, this.base) : undefined
    const isText = this.pieces.length > link.from && this.pieces.length - link.from < LINK_PIECES
    if (!url || !/^https?:$/.test(url.protocol) || !isText) return
    const shown = this.pieces.slice(link.from).join('').trim()
    if (shown !== '' && shown !== url.href) this.put(` (${url.href})`)
  }

  private breakLine(lines: number): void {
    if (this.tail === '') return
    const there = this.tail === '\n\n' ? 2 : this.tail.endsWith('\n') ? 1 : 0
    if (there < lines) this.put('\n'.repeat(lines - there))
  }
}

/** The text of an HTML page with its links, in linear time, yielding to the event loop. */
export async function htmlText(html: string, base: string): Promise<HtmlText> {
  const writer = new Writer(base)
  const parser = new Parser({
    onopentag: (name, attributes) => writer.open(name, attributes),
    onclosetag: (name) => writer.close(name),
    ontext: (text) => writer.write(text),
  })
  for (let at = 0; at < html.length && writer.depth < DEPTH_MAX; at += SLICE) {
    parser.write(html.slice(at, at + SLICE))
    await new Promise((resolve) => setImmediate(resolve))
  }
  parser.end()
  return writer.result()
}
