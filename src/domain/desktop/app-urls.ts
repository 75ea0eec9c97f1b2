import { invalidField } from './names.ts'

// URLs that a browser will open. Ambiguous ones are refused and never corrected.

// Controls, spaces, what a URL parser changes or reinterprets (WHATWG URL, path percent-encode set), and the backslash,
// which it reads as a slash. Without the percent sign a path has only one spelling.
// oxlint-disable-next-line no-control-regex
const AMBIGUOUS = /[\u0000-\u0020\u007f-\u00a0"#%<>?\\^`{|}]/

// oxlint-disable-next-line no-control-regex
const BROKEN_URL = /[\u0000-\u0020\u007f-\u00a0\\]/

const PICTURE = /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2}$/

/** Whether a text is a path of this server that every browser reads as written. */
function isPlainPath(text: string): boolean {
  if (!text.startsWith('/') || AMBIGUOUS.test(text)) return false
  return text
    .slice(1)
    .split('/')
    .every((segment) => segment !== '' && segment !== '.' && segment !== '..')
}

/** The origin of an https URL without credentials; undefined for anything else. */
function httpsOrigin(text: string): string | undefined {
  if (!text.startsWith('https://') || BROKEN_URL.test(text) || !URL.canParse(text)) return undefined
  const { origin, username, password } = new URL(text)
  // An empty user name is absent from the parsed URL, but its `@` is in the text.
  const authority = text.slice('https://'.length).split(/[/?#]/, 1)[0]!
  return username || password || authority.includes('@') ? undefined : origin
}

/** Refuses app paths other than files below `/apps/` and pages of the allowed origins. */
export function assertAppPath(path: string, allowedOrigins: readonly string[]): void {
  if (path.startsWith('/apps/') && isPlainPath(path)) return
  const origin = httpsOrigin(path)
  if (origin !== undefined && allowedOrigins.some((allowed) => httpsOrigin(allowed) === origin)) return
  throw invalidField(
    'app_path',
    'must be a path below /apps/, or an https URL of an origin that apps.allowed_origins names',
  )
}

/** Refuses icons other than a path of this server, an https URL or a picture in a `data:` URL; empty means none. */
export function assertIconUrl(url: string): void {
  if (url === '' || isPlainPath(url) || httpsOrigin(url) !== undefined || PICTURE.test(url)) return
  throw invalidField(
    'icon_url',
    'must be a path, an https URL, or a PNG, JPEG, GIF or WebP picture as a base64 data: URL',
  )
}
