import createDOMPurify from 'dompurify'
import { Marked } from 'marked'
import { useMemo } from 'preact/hooks'

const purify = createDOMPurify(window)

// External images would tell their server that the text is read: show their description instead.
purify.addHook('afterSanitizeAttributes', (node) => {
  if (node.tagName === 'A') node.setAttribute('rel', 'noopener noreferrer')
  if (node.tagName !== 'IMG') return
  if (/^(data:image\/(png|jpeg|gif|webp);|blob:)/.test(node.getAttribute('src') ?? '')) return
  node.replaceWith(document.createTextNode(node.getAttribute('alt') ?? ''))
})

const escapeHtml = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[character]!)

/** For texts with hard-wrapped lines. */
const reflowingParser = new Marked({ async: false, gfm: true })
const lineBreakParser = new Marked({ async: false, gfm: true, breaks: true })
/** Escapes HTML, except line breaks: tables have no other syntax for them. */
const literalHtml = ({ text }: { text: string }): string =>
  /^<br *\/?>$/i.test(text.trim()) ? '<br>' : escapeHtml(text)
/** Shows HTML as text. */
const literalParser = new Marked({ async: false, gfm: true, breaks: true, renderer: { html: literalHtml } })

/** The blocks of a Markdown text. All but the last stay the same when text is appended. */
export const blocksOf = (text: string): string[] => lineBreakParser.lexer(text).map(({ raw }) => raw)

/** Sanitised HTML of an untrusted Markdown text: runs nothing, loads nothing, and cannot imitate the desktop. */
const htmlOf = (text: string, parser: Marked): string =>
  purify.sanitize(parser.parse(text, { async: false }), {
    USE_PROFILES: { html: true },
    FORBID_TAGS: ['style', 'form', 'input', 'button', 'textarea', 'select', 'video', 'audio', 'source', 'picture'],
    FORBID_ATTR: ['style', 'class', 'id', 'name', 'srcset'],
    ALLOWED_URI_REGEXP: /^(https?:|mailto:|tel:|data:image\/(png|jpeg|gif|webp);|blob:|#)/i,
  })

/** As `Markdown` shows it. */
export const renderMarkdown = (text: string): string => htmlOf(text, lineBreakParser)

interface MarkdownProps {
  text: string
  /** Show HTML as text. */
  literal?: boolean
  /** Treat line breaks in paragraphs as spaces. */
  wrap?: boolean
}

export function Markdown({ text, literal: isLiteral = false, wrap = false }: MarkdownProps) {
  const parser = wrap ? reflowingParser : isLiteral ? literalParser : lineBreakParser
  const html = useMemo(() => htmlOf(text, parser), [text, parser])
  return <div class="markdown" dangerouslySetInnerHTML={{ __html: html }} />
}
