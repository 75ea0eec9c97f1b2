import { Type } from 'typebox'
import type { Chat } from '../../chat/chat.ts'
import { segmentsOf } from '../../files/files.ts'
import type { Tool } from './tool.ts'
import { listing, page, type FileBrowser } from './read-files.ts'
import { FilePath, PageOffset } from './argument-shapes.ts'
import { truncated, count } from './result-text.ts'
import { typedTool } from './typed-tool.ts'

type ChatAccess = Pick<Chat, 'search' | 'messages' | 'rooms'>
type Message = Awaited<ReturnType<ChatAccess['search']>>[number]

const line = ({ timestamp, display_name, username, is_assistant, content }: Message): string =>
  `[${timestamp.slice(0, 16)}Z] ${is_assistant ? 'the assistant' : `${display_name} (@${username})`}: ${content}`

/** Searches messages in the user's rooms. */
export const searchMessagesTool = (chat: ChatAccess): Tool =>
  typedTool({
    name: 'search_messages',
    description:
      'Finds messages that contain a text in the chat rooms the user belongs to, the newest 100 first; upper and lower case are the same. "room" is the name of one room.',
    parameters: Type.Object({
      query: Type.String({ minLength: 1, maxLength: 200 }),
      room: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    }),
    effect: 'reads',
    untrusted: true,
    async run({ account }, { query, room }) {
      const rooms = await chat.rooms(account.id)
      const searched =
        room === undefined ? rooms : rooms.filter(({ name }) => name.toLowerCase() === room.toLowerCase())
      if (searched.length === 0)
        return {
          text: `The user is in no room of that name. Rooms: ${rooms.map(({ name }) => name).join(', ')}`,
        }
      const found =
        room === undefined
          ? await chat.search(account.id, { query })
          : (await Promise.all(searched.map(({ room_id }) => chat.search(account.id, { query, room_id })))).flat()
      const names = new Map(rooms.map(({ room_id, name }) => [room_id, name]))
      const lines = found.map((message) => `#${names.get(message.room_id) ?? message.room_id} ${line(message)}`)
      return { text: truncated([count(found.length, 'message'), ...lines].join('\n')) }
    },
  })

/** Tools for a mention in a room: its messages and files only. */
export function roomTools({ chat, desktop }: { chat: ChatAccess } & FileBrowser, room: number): Tool[] {
  /** The account path of a path inside the room's folder. Fault `bad_path` outside it. */
  const inside = async (user: number, path: string): Promise<string> => {
    const segments = segmentsOf(path)
    return [await desktop.roomFolder(user, room), ...segments].join('/')
  }
  return [
    typedTool({
      name: 'read_room_messages',
      description: 'Reads messages of this chat room, oldest first: the last ones, or those before a time.',
      parameters: Type.Object({
        before: Type.Optional(Type.String({ maxLength: 40, description: 'A time such as 2026-01-31T12:00:00Z.' })),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200 })),
      }),
      effect: 'reads',
      untrusted: true,
      async run({ account }, { before, limit = 50 }) {
        const { messages, has_more } = await chat.messages(account.id, {
          room_id: room,
          limit,
          ...(before && { before }),
        })
        const head = `${count(messages.length, 'message')}${has_more ? '; there are earlier ones' : ''}`
        return { text: truncated([head, ...messages.map(line)].join('\n')) }
      },
    }),
    typedTool({
      name: 'list_room_files',
      description: 'Lists a folder of the files shared in this chat room; "/" is the folder of the room.',
      parameters: Type.Object({ path: FilePath }),
      effect: 'reads',
      untrusted: true,
      async run({ account }, { path }) {
        return { text: listing(path, await desktop.list(account.id, await inside(account.id, path))) }
      },
    }),
    typedTool({
      name: 'read_room_file',
      description:
        'Reads a text file shared in this chat room, 16,000 characters at a time; "/" is the folder of the room.',
      parameters: Type.Object({ path: FilePath, offset: PageOffset }),
      effect: 'reads',
      untrusted: true,
      async run({ account }, { path, offset }) {
        const text = await desktop.text(account.id, await inside(account.id, path))
        return { text: page(path, text, offset) }
      },
    }),
  ]
}
