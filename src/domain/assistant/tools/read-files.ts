import { Type } from 'typebox'
import { formatSize } from '../../../base/sizes.ts'
import type { Files } from '../../files/files.ts'
import type { Tool } from './tool.ts'
import { FilePath, PageOffset } from './argument-shapes.ts'
import { truncated, count } from './result-text.ts'
import { typedTool } from './typed-tool.ts'

export type FileBrowser = { desktop: Pick<Files['desktop'], 'list' | 'text' | 'facts' | 'roomFolder'> }

type Item = Awaited<ReturnType<FileBrowser['desktop']['list']>>[number]

const MAX_LISTED = 500

/** Characters per page: even encoded at their widest they fit into a result. */
const PAGE = 16_000

const line = ({ name, type, size = 0, modified }: Item): string =>
  type === 'directory' ? `${name}/` : `${name}\t${formatSize(size)}\t${modified.slice(0, 16)}Z`

/** A folder for a model, one entry a line. */
export function listing(path: string, items: readonly Item[]): string {
  if (items.length === 0) return `${path} is empty.`
  const rest = items.length > MAX_LISTED ? `\n[${items.length - MAX_LISTED} more not shown; use search_files]` : ''
  return truncated(
    `${count(items.length, 'entry', 'entries')} in ${path}\n${items.slice(0, MAX_LISTED).map(line).join('\n')}${rest}`,
  )
}

export function page(path: string, text: string, offset = 0): string {
  if (offset >= text.length && offset > 0)
    return `${path} has ${text.length} characters; there is nothing at ${offset}.`
  if (text === '') return `${path} is empty.`
  const end = Math.min(text.length, offset + PAGE)
  const part = text.slice(offset, end).toWellFormed()
  return offset === 0 && end === text.length
    ? part
    : `[characters ${offset} to ${end} of ${text.length}${end < text.length ? `; continue with offset ${end}` : ''}]\n${part}`
}

export const readingTools = ({ desktop }: FileBrowser): Tool[] => [
  typedTool({
    name: 'list_files',
    description:
      'Lists a folder of the user\'s files. The root is "/"; the shared files of chat rooms are below /Teamchat/<room>/. Folders end in a slash.',
    parameters: Type.Object({ path: FilePath }),
    effect: 'reads',
    untrusted: true,
    async run({ account }, { path }) {
      return { text: listing(path, await desktop.list(account.id, path)) }
    },
  }),
  typedTool({
    name: 'read_file',
    description:
      'Reads a text file of the user (UTF-8, up to 5 MiB), 16,000 characters at a time. Files that are no text cannot be read.',
    parameters: Type.Object({ path: FilePath, offset: PageOffset }),
    effect: 'reads',
    untrusted: true,
    async run({ account }, { path, offset }) {
      return { text: page(path, await desktop.text(account.id, path), offset) }
    },
  }),
]
