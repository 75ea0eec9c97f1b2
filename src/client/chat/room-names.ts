import type { Answer } from '../../contract/define.ts'
import type { teamChat } from '../../contract/team-chat.ts'

export type ChatRoom = Answer<typeof teamChat.actions.rooms>['rooms'][number]
export type Person = ChatRoom['participants'][number]

/** The other user of a direct conversation; undefined for a channel, and for a removed account. */
export const partnerOf = ({ type, participants }: ChatRoom, me: number): Person | undefined =>
  type === 'dm' ? participants.find(({ id }) => id !== me) : undefined

/** The title of a room for a member: the name of a channel, or the user name of the other user. */
export function titleOf(room: ChatRoom, me: number): string {
  const partner = partnerOf(room, me)
  return partner ? `@${partner.username}` : room.name
}

/** Normalises a name, so that the keyboard does not matter. */
const plain = (text: string): string => text.normalize('NFC').trim()
const folded = (text: string): string => plain(text).toLowerCase()

/**
 * The rooms that a text can mean: `#12` is an ID, `@ada` a direct conversation, anything else the name of a channel
 * with an optional `#`. Case matters only between names that are otherwise equal.
 */
export function roomsNamed(rooms: readonly ChatRoom[], me: number, text: string): ChatRoom[] {
  const wanted = plain(text)
  if (/^#\d+$/.test(wanted)) {
    const numbered = rooms.filter(({ room_id }) => room_id === Number(wanted.slice(1)))
    if (numbered.length > 0) return numbered
  }
  if (wanted.startsWith('@')) {
    const user = folded(wanted.slice(1))
    const dms = rooms.filter((room) => partnerOf(room, me)?.username.toLowerCase() === user)
    if (dms.length > 0) return dms
  }
  const channels = rooms.filter(({ type }) => type === 'channel')
  for (const name of [wanted, wanted.replace(/^#/, '')]) {
    const exact = channels.filter((room) => plain(room.name) === name)
    if (exact.length > 0) return exact
    const alike = channels.filter((room) => folded(room.name) === folded(name))
    if (alike.length > 0) return alike
  }
  return []
}
