import type { ChatRoom } from './room-names.ts'

/** Where the folders of rooms are. */
export const SHARED = '/Teamchat'
// What a folder's name cannot hold stands in it as `_`.
// oxlint-disable-next-line no-control-regex
const FORBIDDEN = /[\u0000-\u001f\u007f-\u009f/\\]/g

/** The folder of a room, of those there are. Its name is the server's to choose: where rooms share one, it carries the room's number. */
export function folderAmong(names: readonly string[], { room_id, name }: Pick<ChatRoom, 'room_id' | 'name'>) {
  const plain = name.replace(FORBIDDEN, '_')
  const found =
    names.find((each) => each === `${plain} (#${room_id})`) ??
    names.find((each) => each.normalize('NFC') === plain.normalize('NFC'))
  return found === undefined ? undefined : `${SHARED}/${found}`
}
