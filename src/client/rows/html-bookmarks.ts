import { Parser } from 'htmlparser2'
import { importWords } from './import-words.ts'
import { withKnownRows } from './known-rows.ts'
import type { Candidate, ImportedFile } from './row-files.ts'
import { shortened } from './row-text.ts'
import { problemsOf, type Row } from './row-values.ts'

// The bookmark files of browsers: `NETSCAPE-Bookmark-file-1`, HTML whose elements are never closed.

/** Between the names of a folder and of one in it. */
const INSIDE = ' / '

/** As the columns of `svc_bookmarks`. */
const [MAX_LINE, MAX_ADDRESS, MAX_NOTE] = [500, 4_000, 1_000_000]

/** Most open elements: no browser writes so many, so the file is taken for cut off. Characters between two checks of it. */
const MAX_OPEN = 2_000
const CHUNK = 1 << 16

const clean = (text: string): string => text.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim()

/** A text of several lines. */
const cleanLines = (text: string): string =>
  text
    .split(/\r\n|\r|\n/)
    .map(clean)
    .join('\n')
    .trim()

interface Found {
  from: number
  values: { title: string; url: string; folder: string | null; note: string | null }
}

const noteOfTags = (tags: string): string | null =>
  tags
    .split(',')
    .flatMap((tag) => (tag.trim() === '' ? [] : [`#${tag.trim()}`]))
    .join(' ') || null

/** Bookmarks in the order of the file, and whether every folder has an end. */
function readTags(html: string): { found: Found[]; isWhole: boolean } {
  const found: Found[] = []
  /** Paths of the open folders. */
  const folders: string[] = []
  /** Name of the folder whose list comes next. */
  let name = ''
  /** The bookmark that a description would belong to; after the name of a folder there is none. */
  let described: Found | undefined
  let lists = 0
  let open = 0
  let text = ''
  let use: ((text: string) => void) | undefined
  /** Ends the text of the last tag, and begins that of the next one. */
  const collect = (next?: (text: string) => void): void => {
    use?.(text)
    text = ''
    use = next
  }

  const begin: Record<string, (attributes: Record<string, string>) => void> = {
    h3: () => {
      described = undefined
      collect((title) => void (name = clean(title)))
    },
    dl: () => {
      collect()
      const path = [folders.at(-1) ?? '', name].filter((part) => part !== '').join(INSIDE)
      folders.push(shortened(path, MAX_LINE))
      name = ''
      described = undefined
    },
    dt: () => collect(),
    dd: () => {
      const of = described
      collect(
        (note) =>
          of &&
          (of.values.note = shortened([cleanLines(note), of.values.note].filter(Boolean).join('\n'), MAX_NOTE) || null),
      )
    },
    a: ({ href = '', tags = '' }) => {
      const folder = folders.at(-1) || null
      const one = { from: parser.startIndex, values: { title: '', url: href.trim(), folder, note: noteOfTags(tags) } }
      found.push(one)
      described = one
      collect((title) => void (one.values.title = shortened(clean(title), MAX_LINE)))
    },
  }
  const parser = new Parser({
    onopentag(tag, attributes) {
      open++
      begin[tag]?.(attributes)
    },
    ontext: (part) => void (use && (text += part)),
    onclosetag(tag, isImplied) {
      open--
      if (tag === 'h3' || tag === 'a') collect()
      if (tag !== 'dl' || isImplied) return
      collect()
      folders.pop()
      lists++
    },
  })
  // The parser's time grows with the square of the depth.
  for (let at = 0; at < html.length && open < MAX_OPEN; at += CHUNK) parser.write(html.slice(at, at + CHUNK))
  parser.end()
  collect()
  return { found, isWhole: folders.length === 0 && lists > 0 }
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

/** A folder of a row as it is read from an export. */
const folderKey = (folder: unknown): string =>
  shortened(
    (typeof folder === 'string' ? folder : '')
      .split(INSIDE)
      .map(clean)
      .filter((name) => name !== '')
      .join(INSIDE),
    MAX_LINE,
  )

/** Bookmarks are known by address and folder; what a person changed of one stays. */
export const withKnownBookmarks = (candidates: readonly Candidate[], rows: readonly Row[]): Candidate[] =>
  withKnownRows(candidates, rows, {
    keysOf: ({ url, folder }) => [JSON.stringify([String(url).trim(), folderKey(folder)])],
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
