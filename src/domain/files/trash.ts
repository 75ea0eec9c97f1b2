import { iso, type Clock } from '../../base/clock.ts'
import { fault } from '../../contract/errors.ts'
import { advance } from '../../storage/changes.ts'
import type { Database, Reader, Writer } from '../../storage/database.ts'
import { extentOf, recordSubtree } from '../../storage/files.ts'
import { roomRootOf } from '../../storage/room-files.ts'
import { dropEntry, dropTrashOf, entryOf, reviveEntry, trashOf, type Bytes, type Entry } from '../../storage/trash.ts'
import { assertReach, nameKey, pathOf, segmentsOf, TEAMCHAT } from './paths.ts'
import { assertOneTree, type Address, type Reach } from './reach.ts'
import { foldersFor, type RoomFolder } from './rooms.ts'
import { recordNodes, type Spot, type Tree } from './tree.ts'
import { assertWithin, quotaOf, type Allowance } from './write.ts'

interface Parts {
  database: Database
  clock: Clock
  tree: Tree
  reach: Reach
  allowance: () => Promise<Allowance>
}

/** The path of an entry as the desktop names it today, whatever its room was called then. */
export function pathIn(rooms: RoomFolder[], { room_id, path }: Pick<Entry, 'room_id' | 'path'>): string {
  if (room_id === null) return path
  return pathOf([TEAMCHAT, rooms.find(({ id }) => id === room_id)!.name]) + path
}

/** What accounts deleted and can still restore: from their own tree, and from rooms as long as they belong to them. */
export const makeTrash = ({ database, clock, tree, reach, allowance }: Parts) => {
  async function present(on: Reader, user: number, id: number): Promise<Entry> {
    const entry = await entryOf(on, user, id)
    if (!entry) throw fault('not_found')
    return entry
  }

  /** Where an entry goes: the wanted place, or the one it had. */
  async function spotFor(tx: Writer, user: number, entry: Entry, to: Address | undefined): Promise<Spot> {
    const { room_id: room } = entry
    const root = room === null ? await tree.root(tx, user) : await roomRootOf(tx, room)
    const former = { user, room, root, segments: segmentsOf(entry.path) }
    if (!to) return former
    const wanted = await reach.spot(tx, user, to)
    assertOneTree(former, wanted)
    return wanted
  }

  /** Counts what came back for those who pay for it, of whom nobody may come to use more than allowed. */
  async function count(tx: Writer, bytes: Bytes): Promise<void> {
    for (const [payer, size] of bytes) {
      const { used_bytes: used } = await advance(tx, payer, 0, size)
      assertWithin(await quotaOf(tx, payer, allowance), used, size)
    }
  }

  async function restoreIn(tx: Writer, user: number, id: number, to: Address | undefined) {
    const entry = await present(tx, user, id)
    const spot = await spotFor(tx, user, entry, to)
    if (entry.type === 'directory') assertReach(spot.segments, await extentOf(tx, entry.node_id, entry.id))
    const now = clock.now()
    const place = await tree.makePlace(tx, spot, now)
    if (place.node) throw fault('exists')
    const target = { parent_id: place.parent, name: place.name, name_key: nameKey(place.name) }
    const { nodes, bytes } = await reviveEntry(tx, entry, target, now)
    await count(tx, bytes)
    await recordNodes(tx, spot, place.made, 0, now)
    if (spot.room === null) {
      const { seq } = await advance(tx, user, nodes)
      await recordSubtree(tx, user, entry.node_id, seq, nodes, now)
    }
    return { room_id: entry.room_id, path: pathOf(spot.segments) }
  }

  return {
    restoreIn,

    /** What is in the trash, newest first; `path` is where it was. */
    list: (user: number) =>
      database.snapshot(async (at) => {
        const rooms = await foldersFor(at, user)
        const { retention } = await allowance()
        return (await trashOf(at, user)).map((entry) => ({
          id: entry.id,
          path: pathIn(rooms, entry),
          name: entry.name,
          type: entry.type,
          size: entry.size,
          ...(entry.sha256 === null ? {} : { sha256: entry.sha256 }),
          deleted_at: iso(entry.deleted_at),
          expires_at: iso(entry.deleted_at + retention),
        }))
      }),

    /**
     * Brings an entry back to where it was, or to another path of the same tree, creating missing folders; returns its
     * path. Faults: `not_found`, `exists` when the place is taken, `bad_path`, `quota_exceeded`, `cross_domain`.
     */
    async restore(user: number, id: number, to: string | undefined): Promise<string> {
      const address = to === undefined ? undefined : reach.address(to)
      return database.write(async (tx) => {
        const restored = await restoreIn(tx, user, id, address)
        return pathIn(await foldersFor(tx, user), restored)
      })
    },

    /** Removes an entry for good. Fault `not_found`. */
    async remove(user: number, id: number): Promise<void> {
      await database.write(async (tx) => {
        await present(tx, user, id)
        await dropEntry(tx, id)
      })
    },

    /** Removes everything in the trash for good; returns how many entries. */
    empty: (user: number): Promise<number> => database.write((tx) => dropTrashOf(tx, user)),
  }
}
