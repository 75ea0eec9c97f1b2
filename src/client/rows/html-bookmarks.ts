import { importWords } from './import-words.ts'
import { withKnownRows } from './known-rows.ts'
import type { Candidate, ImportedFile } from './row-files.ts'
import { problemsOf, type Row } from './row-values.ts'

// The bookmark files of browsers: `NETSCAPE-Bookmark-file-1`, HTML whose elements are never closed.

/** Between the names of a folder and of one in it. */
const INSIDE = ' / '

/** As the columns of `svc_bookmarks`. */
const [MAX_LINE, MAX_ADDRESS, MAX_NOTE] = [500, 4_000, 1_000_000]

/** Most characters of the value of an attribute: browsers write small pictures there. */
const MAX_VALUE = 1_000_000

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' }

const decoded = (text: string): string =>
  text.replaceAll(
    /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{2,6}));/gi,
    (whole, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? whole
      const code = decimal === undefined ? parseInt(hex!, 16) : Number(decimal)
      return code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? '\ufffd' : String.fromCodePoint(code)
    },
  )

const clean = (text: string): string =>
  decoded(text.replaceAll(/<[^<>]*>/g, ''))
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim()

const shortened = (text: string, max: number): string => text.slice(0, max).replace(/[\uD800-\uDBFF]$/, '')

interface Tag {
  /** In lower case, with the slash of a closing one. */
  name: string
  attributes: string
  from: number
  /** Where the text after it begins. */
  to: number
}

/** The position of the end of a tag, which is not one in quotes. */
function endOfTag(html: string, from: number, lastQuotes: Record<string, number>): number {
  const stop = /[>"']/g
  stop.lastIndex = from
  for (let found = stop.exec(html); found; found = stop.exec(html)) {
    if (found[0] === '>') return found.index
    const isOpen = found.index >= lastQuotes[found[0]]!
    const close = isOpen ? -1 : html.indexOf(found[0], found.index + 1)
    if (close !== -1 && close - found.index <= MAX_VALUE) stop.lastIndex = close + 1
  }
  return html.length
}

function* tagsOf(html: string): Generator<Tag, void, void> {
  const lastQuotes = { '"': html.lastIndexOf('"'), "'": html.lastIndexOf("'") }
  const begin = /<(\/?(?:h3|dl|dt|dd|a))(?=[\s>])/gi
  for (let found = begin.exec(html); found; found = begin.exec(html)) {
    const after = begin.lastIndex
    const end = endOfTag(html, after, lastQuotes)
    yield { name: found[1]!.toLowerCase(), attributes: html.slice(after, end), from: found.index, to: end + 1 }
    begin.lastIndex = end
  }
}

const attributeOf = (attributes: string, name: string): string => {
  const found = new RegExp(`(?:^|\\s)${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, 'i').exec(attributes)
  return decoded(found?.[1] ?? found?.[2] ?? found?.[3] ?? '')
}

interface Found {
  from: number
  values: { title: string; url: string; folder: string | null; note: string | null }
}

/** Bookmarks in the order of the file, and whether every folder has an end. */
function readTags(html: string): { found: Found[]; isWhole: boolean } {
  const found: Found[] = []
  const folders: string[] = []
  let next = ''
  const tags = [...tagsOf(html)]
  for (const [index, { name, attributes, from, to }] of tags.entries()) {
    const text = html.slice(to, tags[index + 1]?.from)
    if (name === 'h3') next = clean(text)
    else if (name === 'dl') folders.push(next)
    else if (name === '/dl') folders.pop()
    else if (name === 'a') {
      const tags = attributeOf(attributes, 'tags')
        .split(',')
        .flatMap((tag) => (tag.trim() === '' ? [] : [`#${tag.trim()}`]))
      const folder = shortened(folders.filter((one) => one !== '').join(INSIDE), MAX_LINE)
      const values = {
        title: shortened(clean(text), MAX_LINE),
        url: attributeOf(attributes, 'href').trim(),
        folder: folder || null,
      }
      found.push({ from, values: { ...values, note: tags.join(' ') || null } })
    } else if (name === 'dd' && found.length > 0) {
      // The description of a folder follows its name, that of a bookmark its link.
      const isOfBookmark = tags.slice(Math.max(0, index - 3), index).some((tag) => tag.name === '/a')
      const last = found.at(-1)!.values
      if (isOfBookmark) last.note = shortened([clean(text), last.note].filter(Boolean).join('\n'), MAX_NOTE) || null
    }
    if (name === 'dl') next = ''
  }
  return { found, isWhole: folders.length === 0 && tags.some((tag) => tag.name === '/dl') }
}

/** Reads the bookmarks of a browser. Addresses that are not those of web pages are left out. */
export function readHtmlFile(html: string, words = importWords): ImportedFile {
  const { found, isWhole } = readTags(html)
  let [line, counted] = [1, 0]
  const kept = found.filter(({ values: { url } }) => /^https?:/i.test(url))
  const candidates = kept.map(({ from, values }, index) => {
    for (let at = html.indexOf('\n', counted); at !== -1 && at < from; at = html.indexOf('\n', counted)) {
      line++
      counted = at + 1
    }
    const isLong = values.url.length > MAX_ADDRESS
    const problems = isLong ? [words.address_long(MAX_ADDRESS)] : problemsOf('svc_bookmarks', 'new', values, words)
    return { where: words.bookmark(index + 1, line), values, problems }
  })
  const ofFile = isWhole ? (found.length === 0 ? words.no_bookmarks : undefined) : words.folder_cut_off
  return {
    candidates: [
      ...(ofFile === undefined ? [] : [{ where: words.the_file, values: {}, problems: [ofFile] }]),
      ...candidates,
    ],
    left: { addresses: found.length - kept.length },
  }
}

/** Bookmarks are known by address and folder; what a person changed of one stays. */
export const withKnownBookmarks = (candidates: readonly Candidate[], rows: readonly Row[]): Candidate[] =>
  withKnownRows(candidates, rows, {
    keysOf: ({ url, folder }) => [JSON.stringify([url, folder ?? null])],
    isUnchanged: () => true,
  })

const escaped = (text: unknown): string => String(text ?? '').replaceAll(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`)

interface Folder {
  folders: Map<string, Folder>
  rows: Row[]
}

const emptyFolder = (): Folder => ({ folders: new Map(), rows: [] })

/** Most folders in one another that are written; browsers stop at some hundred. */
const MAX_DEPTH = 50

function linesOf({ folders, rows }: Folder, indent: string): string[] {
  const inner = `${indent}    `
  return [
    `${indent}<DL><p>`,
    ...[...folders].flatMap(([name, folder]) => [`${inner}<DT><H3>${escaped(name)}</H3>`, ...linesOf(folder, inner)]),
    ...rows.flatMap(({ title, url, note, created_at }) => {
      const seconds = Math.floor(Date.parse(String(created_at)) / 1_000)
      const added = Number.isFinite(seconds) ? ` ADD_DATE="${seconds}"` : ''
      const link = `${inner}<DT><A HREF="${escaped(url)}"${added}>${escaped(title)}</A>`
      return note ? [link, `${inner}<DD>${escaped(note)}`] : [link]
    }),
    `${indent}</DL><p>`,
  ]
}

/** Rows of `svc_bookmarks` as a file that browsers import. */
export function formatHtml(rows: readonly Row[]): string {
  const root = emptyFolder()
  for (const row of rows) {
    let at = root
    const path = typeof row['folder'] === 'string' && row['folder'] !== '' ? row['folder'].split(INSIDE) : []
    for (const name of path.slice(0, MAX_DEPTH)) {
      const folder = at.folders.get(name) ?? emptyFolder()
      at.folders.set(name, folder)
      at = folder
    }
    at.rows.push(row)
  }
  const head = [
    '<!DOCTYPE NETSCAPE-Bookmark-file-1>',
    '<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8">',
    '<TITLE>Bookmarks</TITLE>',
    '<H1>Bookmarks</H1>',
  ]
  return `${[...head, ...linesOf(root, '')].join('\n')}\n`
}
