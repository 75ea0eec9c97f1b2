import { fault } from '../contract/errors.ts'

const HTML = /^(text\/html|application\/xhtml\+xml)$/
const PLAIN = /^(text\/(plain|markdown|xml|csv)|application\/(json|xml)|application\/[a-z.+-]+\+(json|xml))$/

/** Decodes the declared character set; pages with an unknown one are mostly UTF-8. */
function decode(body: Uint8Array, charset: string): string {
  try {
    return new TextDecoder(charset).decode(body)
  } catch {
    return new TextDecoder().decode(body)
  }
}

/** A page as readable text. Fault `unsupported_media_type` for other content. */
export async function readable(
  body: Uint8Array,
  contentType: string,
  base: string,
): Promise<{ title: string | undefined; text: string }> {
  const [type = ''] = contentType.toLowerCase().split(';')
  const charset = /charset="?([^";\s]+)/i.exec(contentType)?.[1] ?? 'utf-8'
  const source = (): string => decode(body, charset)
  if (PLAIN.test(type.trim())) return { title: undefined, text: source() }
  if (!HTML.test(type.trim()))
    throw fault('unsupported_media_type', {
      text: `Only text can be read, and this is ${type.trim() || 'of no type'}.`,
    })
  const { htmlText } = await import('./html-text.ts')
  return htmlText(source(), base)
}
