import { Type } from 'typebox'
import { fault } from '../../../contract/errors.ts'
import type { Staged } from '../../../storage/contents/contents.ts'
import type { Writer } from '../../../storage/engine/database.ts'
import { isOfRooms, segmentsOf, type Files } from '../../files/files.ts'
import type { ToolEffect, Tool, ToolCall } from './tool.ts'
import { FilePath } from './argument-shapes.ts'
import { typedTool } from './typed-tool.ts'

type FileAccess = {
  desktop: Pick<Files['desktop'], 'receive' | 'publish' | 'settle' | 'admit' | 'keep'>
  undoable: Files['undoable']
}

const Content = Type.String({ maxLength: 1_048_576, description: 'The whole text of the file.' })
const FromTo = Type.Object({ from: FilePath, to: FilePath })

function assertText(text: string): void {
  if (!text.isWellFormed()) throw fault('bad_request', { text: 'The content holds half a character.' })
}

async function* once(text: string): AsyncIterable<Uint8Array> {
  yield await Promise.resolve(new TextEncoder().encode(text))
}

/**
 * The effect of creating something at a path. Files of a room are visible to its members. Hidden names are read by programs
 * where the files are synchronised to: shells, editors, Git hooks, the sync client's ignore rules.
 */
function creationEffect(path: string): ToolEffect {
  if (isOfRooms(path)) return 'sends'
  return segmentsOf(path).some((name) => name.startsWith('.')) ? 'alters' : 'adds'
}

/** A room's folder may contain hidden names chosen by others. */
function copyEffect(from: string, to: string): ToolEffect {
  const effect = creationEffect(to)
  return effect === 'adds' && isOfRooms(from) ? 'alters' : effect
}

/** Receives a text and writes it to a path; a refused write leaves nothing behind. */
async function writeText(
  { desktop, undoable }: FileAccess,
  { account, changeSet }: ToolCall,
  path: string,
  content: string,
  absent: boolean,
) {
  assertText(content)
  const upload = await desktop.admit(account.id, path, Buffer.byteLength(content))
  const staged = await desktop.receive(once(content), upload)
  try {
    const store = (tx: Writer, received: Staged) => undoable.write(tx, account.id, path, received, absent)
    await desktop.publish(staged, store, 'instance')
    const changed = await changeSet.change((tx) => store(tx, staged))
    desktop.keep(staged)
    return changed
  } finally {
    await desktop.settle(staged)
  }
}

/** Tools that change the user's files; every change can be undone. */
export function changingTools(access: FileAccess): Tool[] {
  const { undoable } = access
  return [
    typedTool({
      name: 'write_file',
      description:
        'Writes a new text file, creating missing folders. Refuses when there is something at the path already: use replace_file to overwrite.',
      parameters: Type.Object({ path: FilePath, content: Content }),
      effect: ({ path }) => creationEffect(path),
      untrusted: false,
      async run(call, { path, content }) {
        await writeText(access, call, path, content, true)
        return { text: `Wrote ${path}.` }
      },
    }),
    typedTool({
      name: 'replace_file',
      description: 'Writes a text file and replaces what is there. The content before stays restorable.',
      parameters: Type.Object({ path: FilePath, content: Content }),
      effect: 'alters',
      untrusted: false,
      async run(call, { path, content }) {
        const changes = await writeText(access, call, path, content, false)
        return { text: changes.length === 0 ? `${path} has this content already.` : `Wrote ${path}.` }
      },
    }),
    typedTool({
      name: 'make_folder',
      description: 'Creates a folder with all folders above it that are missing.',
      parameters: Type.Object({ path: FilePath }),
      effect: ({ path }) => creationEffect(path),
      untrusted: false,
      async run({ account, changeSet }, { path }) {
        const changes = await changeSet.change((tx) => undoable.makeFolder(tx, account.id, path))
        return { text: changes.length === 0 ? `${path} is there already.` : `Created ${path}.` }
      },
    }),
    typedTool({
      name: 'move_file',
      description:
        'Moves or renames a file or folder; "to" is its whole new path, where nothing may be. Own files and those of chat rooms cannot be moved into each other.',
      parameters: FromTo,
      effect: 'alters',
      untrusted: false,
      async run({ account, changeSet }, { from, to }) {
        await changeSet.change((tx) => undoable.move(tx, account.id, from, to))
        return { text: `Moved ${from} to ${to}.` }
      },
    }),
    typedTool({
      name: 'copy_file',
      description: 'Copies a file or folder; "to" is the whole path of the copy, where nothing may be.',
      parameters: FromTo,
      effect: ({ from, to }) => copyEffect(from, to),
      untrusted: false,
      async run({ account, changeSet }, { from, to }) {
        await changeSet.change((tx) => undoable.copy(tx, account.id, from, to))
        return { text: `Copied ${from} to ${to}.` }
      },
    }),
    typedTool({
      name: 'delete_file',
      description: 'Puts a file, or a folder with everything in it, into the trash, from where it can be restored.',
      parameters: Type.Object({ path: FilePath }),
      effect: 'alters',
      untrusted: false,
      async run({ account, changeSet }, { path }) {
        await changeSet.change((tx) => undoable.trash(tx, account.id, path))
        return { text: `${path} is in the trash.` }
      },
    }),
  ]
}
