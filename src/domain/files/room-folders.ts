import { iso } from '../../base/clock.ts'
import { fitsBytes } from '../../base/text.ts'
import { fault } from '../../contract/errors.ts'
import type { Reader } from '../../storage/engine/database.ts'
import { roomsOf, type RoomName } from '../../storage/files/room-files.ts'
import { nameKey } from './paths.ts'

export interface RoomFolder {
  id: number
  name: string
  modified: string
}

const MAX_BYTES = 200

// What no segment of a path may hold.
// oxlint-disable-next-line no-control-regex
const FORBIDDEN = /[\u0000-\u001f\u007f-\u009f/\\]/g

/** Converts a room's name to a path segment: replaces invalid characters by `_` and truncates it. */
export function segmentOf(name: string): string {
  const characters = [...name.toWellFormed().replace(FORBIDDEN, '_')]
  while (!fitsBytes(characters.join(''), MAX_BYTES)) characters.pop()
  const segment = characters.join('')
  return segment === '' || segment === '.' || segment === '..' ? '_' : segment
}

/**
 * Unique folder names for rooms. All rooms that share a name get their id, `name (#id)`, so that a folder never silently
 * refers to another room when one of them disappears.
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
    // An added id may collide with another room's name: then that room is numbered too.
    for (const [index, folder] of folders.entries()) {
      if (folder.numbered || bearers.get(keys[index]!) === 1) continue
      folder.numbered = true
      settled = false
    }
  }
  return folders.map((folder) => ({ id: folder.id, name: nameOf(folder), modified: folder.modified }))
}

/** The folders of the account's current rooms. */
export const foldersFor = async (on: Reader, user: number): Promise<RoomFolder[]> =>
  roomFolders(await roomsOf(on, user))

/** The room of a folder name. Fault `not_found`, also for rooms of others. */
export async function roomBehind(on: Reader, user: number, name: string): Promise<RoomFolder> {
  const key = nameKey(name)
  const room = (await foldersFor(on, user)).find((folder) => nameKey(folder.name) === key)
  if (!room) throw fault('not_found')
  return room
}
