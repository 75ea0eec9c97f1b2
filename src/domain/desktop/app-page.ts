import type { Remark } from './app-manifest.ts'

// Finds what an app's page requests in vain: it runs in a frame without an origin, where only files of this server load and
// inline scripts do not run. Informs the author; the frame enforces the rules.

/** Larger pages are not checked. */
const MAX_BYTES = 1024 * 1024

// Bounded repetitions, so that a hostile page takes no longer than a normal one of its size.
const TAG = /<([a-z][a-z0-9-]{0,30})((?:\s|\/)[^<>]{0,4000})?>/gi
const ATTRIBUTE = /([a-z][a-z-]{0,30})\s{0,9}=\s{0,9}(?:"([^"]{0,2000})"|'([^']{0,2000})'|([^\s"'>]{1,2000}))/gi

/** Attributes whose URL the page loads at once; links load only when followed. */
const LOADING = new Set(['src', 'href', 'poster', 'data', 'action', 'formaction'])

const BASE = 'https://app.invalid'

/** Removes comments; an unterminated one extends to the end. */
const uncommented = (html: string): string =>
  html
    .split('<!--')
    .map((part, at) => (at === 0 ? part : part.includes('-->') ? part.slice(part.indexOf('-->') + 3) : ''))
    .join('')

function attributesOf(text: string): Map<string, string> {
  return new Map(
    [...text.matchAll(ATTRIBUTE)].map(([, name, double, single, bare]) => [
      name!.toLowerCase(),
      (double ?? single ?? bare ?? '').trim(),
    ]),
  )
}

/** The problem with a URL that a page loads; undefined if it is a file of the package. */
function referenceProblem(reference: string, page: string, names: ReadonlySet<string>): string | undefined {
  if (reference === '' || /^(data:|blob:|about:|#)/i.test(reference)) return undefined
  const shown = `"${reference.slice(0, 100)}"`
  const root = `${BASE}/app/`
  if (!URL.canParse(reference, root + page)) return `refers to ${shown}, which is no address`
  const url = new URL(reference, root + page)
  if (url.origin !== BASE) return `loads ${shown} from another origin, which the frame of an app does not allow`
  if (!url.pathname.startsWith('/app/')) return `loads ${shown} from outside the package: use a relative path`
  return names.has(url.pathname.slice('/app/'.length)) ? undefined : `loads ${shown}, which the package does not have`
}

/** Checks one page of a package with files of these names. */
export function remarksOnPage(page: string, bytes: Uint8Array, names: ReadonlySet<string>): Remark[] {
  if (bytes.length > MAX_BYTES) return []
  const messages = new Set<string>()
  const html = uncommented(new TextDecoder().decode(bytes))
  for (const [, tag, rest = ''] of html.matchAll(TAG)) {
    const element = tag!.toLowerCase()
    const attributes = attributesOf(rest)
    const type = attributes.get('type') ?? ''
    if (element === 'script' && !attributes.has('src') && /^$|javascript|module/i.test(type))
      messages.add('has a script in the page, which the frame of an app does not run: put it into a file')
    for (const [name, value] of attributes) {
      if (/^on[a-z]/.test(name))
        messages.add(`has a handler in the attribute ${name}, which does not run: add it in a script`)
      if (!LOADING.has(name) || (name === 'href' && element !== 'link')) continue
      const problem = referenceProblem(value, page, names)
      if (problem !== undefined) messages.add(problem)
    }
  }
  return [...messages].slice(0, 20).map((message) => ({ file: page, message }))
}
