const OTHERS = /[^A-Za-z0-9+/]/

/**
 * Whether a text is base64 with padding (RFC 4648, section 4). Searches for other characters, because an expression that matches the
 * whole text exceeds the stack of regular expressions after a few MiB.
 */
export function isBase64(text: string): boolean {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  return text.length % 4 === 0 && !OTHERS.test(text.slice(0, text.length - padding))
}
