import { Type } from 'typebox'
import { fault } from '../../../contract/errors.ts'
import type { Files } from '../../files/files.ts'
import type { Tool, ToolCall } from '../tool.ts'
import { FilePath } from './shapes.ts'
import { toolOf } from './tool-of.ts'

type Changing = { desktop: Pick<Files['desktop'], 'receive'>; noted: Files['noted'] }

const Content = Type.String({ maxLength: 1_048_576, description: 'The whole text of the file.' })
const FromTo = Type.Object({ from: FilePath, to: FilePath })

async function* once(text: string): AsyncIterable<Uint8Array> {
  if (!text.isWellFormed()) throw fault('bad_request', { text: 'The content holds half a character.' })
  yield await Promise.resolve(new TextEncoder().encode(text))
}

/** Tools that change the caller's files; everything they do can be taken back. */
export function changingTools({ desktop, noted }: Changing): Tool[] {
  async function write({ account, changeSet }: ToolCall, path: string, content: string, absent: boolean) {
    const staged = await desktop.receive(once(content))
    return changeSet.change((tx) => noted.write(tx, account.id, path, staged, absent))
  }
  return [
    toolOf({
      name: 'write_file',
      description:
        'Writes a new text file, creating missing folders. Refuses when there is something at the path already: use replace_file to overwrite.',
      parameters: Type.Object({ path: FilePath, content: Content }),
      reach: 'changes',
      async run(call, { path, content }) {
        await write(call, path, content, true)
        return { text: `Wrote ${path}.` }
      },
    }),
    toolOf({
      name: 'replace_file',
      description: 'Writes a text file and replaces what is there. The content before stays restorable.',
      parameters: Type.Object({ path: FilePath, content: Content }),
      reach: 'irreversible',
      async run(call, { path, content }) {
        const changes = await write(call, path, content, false)
        return { text: changes.length === 0 ? `${path} has this content already.` : `Wrote ${path}.` }
      },
    }),
    toolOf({
      name: 'make_folder',
      description: 'Creates a folder with all folders above it that are missing.',
      parameters: Type.Object({ path: FilePath }),
      reach: 'changes',
      async run({ account, changeSet }, { path }) {
        const changes = await changeSet.change((tx) => noted.makeFolder(tx, account.id, path))
        return { text: changes.length === 0 ? `${path} is there already.` : `Created ${path}.` }
      },
    }),
    toolOf({
      name: 'move_file',
      description:
        'Moves or renames a file or folder; "to" is its whole new path, where nothing may be. Own files and those of chat rooms cannot be moved into each other.',
      parameters: FromTo,
      reach: 'irreversible',
      async run({ account, changeSet }, { from, to }) {
        await changeSet.change((tx) => noted.move(tx, account.id, from, to))
        return { text: `Moved ${from} to ${to}.` }
      },
    }),
    toolOf({
      name: 'copy_file',
      description: 'Copies a file or folder; "to" is the whole path of the copy, where nothing may be.',
      parameters: FromTo,
      reach: 'changes',
      async run({ account, changeSet }, { from, to }) {
        await changeSet.change((tx) => noted.copy(tx, account.id, from, to))
        return { text: `Copied ${from} to ${to}.` }
      },
    }),
    toolOf({
      name: 'delete_file',
      description: 'Puts a file, or a folder with everything in it, into the trash, from where it can be restored.',
      parameters: Type.Object({ path: FilePath }),
      reach: 'irreversible',
      async run({ account, changeSet }, { path }) {
        await changeSet.change((tx) => noted.trash(tx, account.id, path))
        return { text: `${path} is in the trash.` }
      },
    }),
  ]
}
