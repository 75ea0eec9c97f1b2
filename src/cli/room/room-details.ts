import { iso } from '../../base/clock.ts'
import { formatSize } from '../../base/sizes.ts'
import { printable } from '../../base/text.ts'
import type { Chat, RoomOverview } from '../../domain/chat/chat.ts'
import { pluralize } from '../../base/counts.ts'
import { Exit } from '../exit.ts'

/** A room as `--json` prints it. */
export const documentOf = ({ id, name, type, ...room }: RoomOverview) => ({
  room_id: id,
  name,
  type,
  created_by: room.created_by,
  created_at: iso(room.created_at),
  members: room.members,
  messages: room.messages,
  last_message_at: room.last_message_at === null ? null : iso(room.last_message_at),
  files: room.files,
  bytes: room.bytes,
})

/** Finds a room by ID or by name. Exit 5 if there is none, 6 if several have the name. */
export async function findRoom(chat: Chat, text: string): Promise<RoomOverview> {
  const rooms = await chat.administration.list()
  const byId = /^\d{1,15}$/.test(text) ? rooms.find(({ id }) => id === Number(text)) : undefined
  if (byId) return byId
  const named = rooms.filter(({ name }) => name === text)
  if (named.length > 1) {
    const ids = named.map(({ id }) => id).join(', ')
    throw new Exit(6, `${named.length} rooms are called "${text}": give the ID of one of them (${ids}).`, 'ambiguous')
  }
  if (!named[0]) throw new Exit(5, `There is no room "${text}": svc room list lists them.`, 'not_found')
  return named[0]
}

export const nameOf = ({ id, name }: RoomOverview): string => `${printable(name)} (ID ${id})`

export const contentOf = ({ members, messages, files, bytes }: RoomOverview): string =>
  `${pluralize(members, 'member')}, ${pluralize(messages, 'message')} and ${pluralize(files, 'file')} (${formatSize(bytes)})`
