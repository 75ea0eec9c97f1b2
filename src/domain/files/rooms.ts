import { iso } from '../../base/clock.ts'
import { fitsBytes } from '../../base/text.ts'
import { fault } from '../../contract/errors.ts'
import type { Reader } from '../../storage/engine/database.ts'
import { roomsOf, type RoomName } from '../../storage/files/room-files.ts'
import { nameKey } from './paths.ts'

/** A room as a folder below `/Teamchat`. */
export interface RoomFolder {
  id: number
  name: string
  modified: string
}

const MAX_BYTES = 200

// What no segment of a path may hold.
// oxlint-disable-next-line no-control-regex
const FORBIDDEN = /[\u0000-\u001f\u007f-\u009f/\\]/g

/** A room's name as one segment of a path; what cannot stand in one becomes `_`, and a long name loses its end. */
export function segmentOf(name: string): string {
  const characters = [...name.toWellFormed().replace(FORBIDDEN, '_')]
  while (!fitsBytes(characters.join(''), MAX_BYTES)) characters.pop()
  const segment = characters.join('')
  return segment === '' || segment === '.' || segment === '..' ? '_' : segment
}

/**
 * Folder names for rooms, each name once: rooms that would share a name carry their number, `name (#id)`, all of them, so
 * that no folder means another room than yesterday because a room of the same name came or went unnoticed.
 */
export function roomFolders(rooms: RoomName[]): RoomFolder[] {
  const folders = rooms.map(({ id, name, created_at }) => ({
    id,
    plain: segmentOf(name),
    numbered: false,
    modified: iso(created_at),
  }))
  const nameOf = ({ id, plain, numbered }: (typeof folders)[number]) => (numbered ? `${plain} (#${id})` : plain)
  for (let settled = false; !settled;) {
    settled = true
    const bearers = new Map<string, number>()
    const keys = folders.map((folder) => nameKey(nameOf(folder)))
    for (const key of keys) bearers.set(key, (bearers.get(key) ?? 0) + 1)
    // A number may make a name equal to one that a room was given by hand: then that room is numbered as well.
    for (const [index, folder] of folders.entries()) {
      if (folder.numbered || bearers.get(keys[index]!) === 1) continue
      folder.numbered = true
      settled = false
    }
  }
  return folders.map((folder) => ({ id: folder.id, name: nameOf(folder), modified: folder.modified }))
}

/** The folders of the rooms an account belongs to at this moment. */
export const foldersFor = async (on: Reader, user: number): Promise<RoomFolder[]> =>
  roomFolders(await roomsOf(on, user))

/** The room behind a folder name. Fault `not_found`, for a room of others as for one that does not exist. */
export async function roomBehind(on: Reader, user: number, name: string): Promise<RoomFolder> {
  const key = nameKey(name)
  const room = (await foldersFor(on, user)).find((folder) => nameKey(folder.name) === key)
  if (!room) throw fault('not_found')
  return room
}
