import { Type } from 'typebox'
import { fault, isFault } from '../../../contract/errors.ts'
import type { Tool } from './tool.ts'
import type { FileBrowser } from './read-files.ts'
import { FilePath } from './argument-shapes.ts'
import { truncated, brief, count } from './result-text.ts'
import { typedTool } from './typed-tool.ts'

/** Limits of a search, so that it ends quickly in accounts of any size. */
const BOUNDS = { entries: 20_000, hits: 50, readFiles: 500, fileBytes: 1_048_576, bytes: 32 * 1_048_576 }

const CONTEXT_CHARACTERS = 120

const isText = (mime = ''): boolean =>
  mime.startsWith('text/') ||
  /[/+](json|xml|yaml|javascript|sql|x-sh|toml)$/.test(mime) ||
  mime === 'application/octet-stream'

const fold = (text: string): string => text.normalize('NFC').toLowerCase()

function lineAround(text: string, at: number): string {
  const number = text.slice(0, at).split('\n').length
  const start = Math.max(text.lastIndexOf('\n', at - 1) + 1, at - CONTEXT_CHARACTERS)
  const end = text.indexOf('\n', at)
  return `line ${number}: ${brief(text.slice(start, end < 0 ? at + CONTEXT_CHARACTERS : Math.min(end, at + CONTEXT_CHARACTERS)), 2 * CONTEXT_CHARACTERS)}`
}

interface Found {
  hits: string[]
  entries: number
  /** The limits that made the search incomplete. */
  limits: Set<string>
}

function makeSearch({ desktop }: FileBrowser, user: number, signal: AbortSignal) {
  const used = { files: 0, bytes: 0 }

  /** The line of a file that contains `wanted`; undefined if there is none or the file is not text. */
  async function matchingLine(
    path: string,
    size: number,
    wanted: string,
    limits: Set<string>,
  ): Promise<string | undefined> {
    if (size > BOUNDS.fileBytes) return void limits.add('files of more than 1 MiB were not read')
    if (used.files >= BOUNDS.readFiles || used.bytes + size > BOUNDS.bytes)
      return void limits.add(`only ${used.files} files were read`)
    used.files += 1
    used.bytes += size
    const text = await desktop.text(user, path).catch((error: unknown) => {
      // Not text, or deleted since it was listed.
      if (isFault(error, 'unsupported_media_type') || isFault(error, 'not_found')) return undefined
      throw error
    })
    if (text === undefined) return undefined
    const at = fold(text).indexOf(wanted)
    return at < 0 ? undefined : lineAround(text, Math.min(at, text.length - 1))
  }

  /** Searches breadth first. */
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
          const line = await matchingLine(path, item.size ?? 0, content, found.limits)
          if (line !== undefined) found.hits.push(`${path}  ${line}`)
        }
      }
    }
    return found
  }
}

export const searchTool = (files: FileBrowser): Tool =>
  typedTool({
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
      return { text: truncated([head + note, ...hits].join('\n')) }
    },
  })
