import type { Answer } from '../../contract/define.ts'
import type { teamChat } from '../../contract/team-chat.ts'

export type ChatRoom = Answer<typeof teamChat.actions.rooms>['rooms'][number]
export type Person = ChatRoom['participants'][number]

/** Whom a direct conversation is with; undefined for a channel, and where the other account is no longer there. */
export const partnerOf = ({ type, participants }: ChatRoom, me: number): Person | undefined =>
  type === 'dm' ? participants.find(({ id }) => id !== me) : undefined

/** What a room is called by whoever is in it: a channel by its name, a direct conversation by the other's user name. */
export function titleOf(room: ChatRoom, me: number): string {
  const partner = partnerOf(room, me)
  return partner ? `@${partner.username}` : room.name
}

/** One name in one form: rooms are found whatever keyboard their names were typed on. */
const plain = (text: string): string => text.normalize('NFC').trim()
const folded = (text: string): string => plain(text).toLowerCase()

/**
 * The rooms that a text may mean: `#12` is a number, `@ada` the conversation with somebody, anything else the name of a
 * channel, with or without a `#` before it. Upper and lower case count only where names differ in nothing else.
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
