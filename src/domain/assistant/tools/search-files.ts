import { Type } from 'typebox'
import { fault, isFault } from '../../../contract/errors.ts'
import type { Tool } from './tool.ts'
import type { Browsing } from './read-files.ts'
import { FilePath } from './shapes.ts'
import { bounded, brief, count } from './text.ts'
import { toolOf } from './tool-of.ts'

/** How far a search goes, so that it ends in a moment whatever an account holds. */
const BOUNDS = { entries: 20_000, hits: 50, readFiles: 500, fileBytes: 1_048_576, bytes: 32 * 1_048_576 }

const AROUND = 120

const isText = (mime = ''): boolean =>
  mime.startsWith('text/') ||
  /[/+](json|xml|yaml|javascript|sql|x-sh|toml)$/.test(mime) ||
  mime === 'application/octet-stream'

const fold = (text: string): string => text.normalize('NFC').toLowerCase()

/** The line in which a text is found, with its number. */
function lineAround(text: string, at: number): string {
  const number = text.slice(0, at).split('\n').length
  const start = Math.max(text.lastIndexOf('\n', at - 1) + 1, at - AROUND)
  const end = text.indexOf('\n', at)
  return `line ${number}: ${brief(text.slice(start, end < 0 ? at + AROUND : Math.min(end, at + AROUND)), 2 * AROUND)}`
}

interface Found {
  hits: string[]
  entries: number
  /** What kept the search from looking at everything. */
  limits: Set<string>
}

function makeSearch({ desktop }: Browsing, user: number, signal: AbortSignal) {
  const spent = { files: 0, bytes: 0 }

  /** The line of a file that holds a text; undefined when none does, or the file cannot be read as text. */
  async function within(path: string, size: number, wanted: string, limits: Set<string>): Promise<string | undefined> {
    if (size > BOUNDS.fileBytes) return void limits.add('files of more than 1 MiB were not read')
    if (spent.files >= BOUNDS.readFiles || spent.bytes + size > BOUNDS.bytes)
      return void limits.add(`only ${spent.files} files were read`)
    spent.files += 1
    spent.bytes += size
    const text = await desktop.text(user, path).catch((error: unknown) => {
      // No text after all, or gone since it was listed.
      if (isFault(error, 'unsupported_media_type') || isFault(error, 'not_found')) return undefined
      throw error
    })
    if (text === undefined) return undefined
    const at = fold(text).indexOf(wanted)
    return at < 0 ? undefined : lineAround(text, Math.min(at, text.length - 1))
  }

  /** Walks a tree, folder by folder, the nearest first. */
  return async function search(top: string, name: string | undefined, content: string | undefined): Promise<Found> {
    const found: Found = { hits: [], entries: 0, limits: new Set() }
    const folders = [top === '/' ? '' : top]
    for (let folder = folders.shift(); folder !== undefined; folder = folders.shift()) {
      for (const item of await desktop.list(user, folder || '/')) {
        signal.throwIfAborted()
        if (found.hits.length >= BOUNDS.hits || found.entries >= BOUNDS.entries) {
          found.limits.add(`it ended after ${count(found.entries, 'entry', 'entries')}`)
          return found
        }
        found.entries += 1
        const path = `${folder}/${item.name}`
        if (item.type === 'directory') folders.push(path)
        if (name !== undefined && !fold(item.name).includes(name)) continue
        if (content === undefined) found.hits.push(item.type === 'directory' ? `${path}/` : path)
        else if (item.type === 'file' && isText(item.mime)) {
          const line = await within(path, item.size ?? 0, content, found.limits)
          if (line !== undefined) found.hits.push(`${path}  ${line}`)
        }
      }
    }
    return found
  }
}

/** Finds files by name and by what they hold. */
export const searchTool = (files: Browsing): Tool =>
  toolOf({
    name: 'search_files',
    description:
      "Searches the user's files below a folder: by a part of the name, by a text they contain, or both. Upper and lower case are the same. Answers at most 50 paths.",
    parameters: Type.Object({
      folder: Type.Optional(FilePath),
      name: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Part of the name.' })),
      content: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Text inside the file.' })),
    }),
    effect: 'reads',
    untrusted: true,
    async run({ account, signal }, { folder = '/', name, content }) {
      if (name === undefined && content === undefined)
        throw fault('bad_request', { text: 'Give name, content, or both.' })
      const search = makeSearch(files, account.id, signal)
      const { hits, entries, limits } = await search(folder, name && fold(name), content && fold(content))
      const head =
        hits.length === 0 ? `Nothing found in ${count(entries, 'entry', 'entries')}.` : `${count(hits.length, 'hit')}`
      const note = limits.size > 0 ? ` [not complete: ${[...limits].join('; ')}]` : ''
      return { text: bounded([head + note, ...hits].join('\n')) }
    },
  })
