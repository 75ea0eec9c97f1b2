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

/** Unique folder names for rooms: of those that share a name the oldest has it, the others are `name (#id)`. */
export function roomFolders(rooms: RoomName[]): RoomFolder[] {
  const byAge = rooms.toSorted((a, b) => a.id - b.id)
  const names = new Map<number, string>()
  const taken = new Set<string>()
  const take = (id: number, name: string) => {
    names.set(id, name)
    taken.add(nameKey(name))
  }
  const others: RoomName[] = []
  for (const room of byAge) {
    const name = segmentOf(room.name)
    if (taken.has(nameKey(name))) others.push(room)
    else take(room.id, name)
  }
  for (const { id, name } of others) {
    let numbered = `${segmentOf(name)} (#${id})`
    // Another room may have been given that name.
    while (taken.has(nameKey(numbered))) numbered += ` (#${id})`
    take(id, numbered)
  }
  return rooms.map(({ id, created_at }) => ({ id, name: names.get(id)!, modified: iso(created_at) }))
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
