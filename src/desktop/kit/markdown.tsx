import createDOMPurify from 'dompurify'
import { Marked } from 'marked'
import { useMemo } from 'preact/hooks'

const purify = createDOMPurify(window)

// Pictures from elsewhere would tell their server that this text is read; their description stays.
purify.addHook('afterSanitizeAttributes', (node) => {
  if (node.tagName === 'A') node.setAttribute('rel', 'noopener noreferrer')
  if (node.tagName !== 'IMG') return
  if (/^(data:image\/(png|jpeg|gif|webp);|blob:)/.test(node.getAttribute('src') ?? '')) return
  node.replaceWith(document.createTextNode(node.getAttribute('alt') ?? ''))
})

const escapeHtml = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[character]!)

/** For pages that were written in lines of a fixed width. */
const reflowingParser = new Marked({ async: false, gfm: true })
const lineBreakParser = new Marked({ async: false, gfm: true, breaks: true })
/** HTML as it was written; only a line break, which tables have no other sign for, is one. */
const literalHtml = ({ text }: { text: string }): string =>
  /^<br *\/?>$/i.test(text.trim()) ? '<br>' : escapeHtml(text)
/** Shows HTML in a text as it was written. */
const literalParser = new Marked({ async: false, gfm: true, breaks: true, renderer: { html: literalHtml } })

/** The blocks a text in Markdown is made of, one after the other: all but the last stay as they are when more is added. */
export const blocksOf = (text: string): string[] => lineBreakParser.lexer(text).map(({ raw }) => raw)

/** HTML of a Markdown text that may come from anybody: nothing in it runs, loads or looks like a part of the desktop. */
const htmlOf = (text: string, parser: Marked): string =>
  purify.sanitize(parser.parse(text, { async: false }), {
    USE_PROFILES: { html: true },
    FORBID_TAGS: ['style', 'form', 'input', 'button', 'textarea', 'select', 'video', 'audio', 'source', 'picture'],
    FORBID_ATTR: ['style', 'class', 'id', 'name', 'srcset'],
    ALLOWED_URI_REGEXP: /^(https?:|mailto:|tel:|data:image\/(png|jpeg|gif|webp);|blob:|#)/i,
  })

interface MarkdownProps {
  text: string
  /** Whether HTML in it is shown as text. */
  literal?: boolean
  /** Whether line breaks in paragraphs are spaces. */
  wrap?: boolean
}

/** A text in Markdown, shown. */
export function Markdown({ text, literal: isLiteral = false, wrap = false }: MarkdownProps) {
  const parser = wrap ? reflowingParser : isLiteral ? literalParser : lineBreakParser
  const html = useMemo(() => htmlOf(text, parser), [text, parser])
  return <div class="markdown" dangerouslySetInnerHTML={{ __html: html }} />
}
