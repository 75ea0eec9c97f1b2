import type { ChatRoom } from './room-names.ts'

export const SHARED = '/Teamchat'
// Characters that a folder's name replaces with `_`.
// oxlint-disable-next-line no-control-regex
const FORBIDDEN = /[\u0000-\u001f\u007f-\u009f/\\]/g

/** Finds the folder of a room. The server chooses its name: if rooms share one, it contains the room's ID. */
export function folderAmong(names: readonly string[], { room_id, name }: Pick<ChatRoom, 'room_id' | 'name'>) {
  const plain = name.replace(FORBIDDEN, '_')
  const found =
    names.find((each) => each === `${plain} (#${room_id})`) ??
    names.find((each) => each.normalize('NFC') === plain.normalize('NFC'))
  return found === undefined ? undefined : `${SHARED}/${found}`
}
