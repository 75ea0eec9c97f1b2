import { iso } from '../../base/clock.ts'
import { fault } from '../../contract/errors.ts'
import { advance } from '../../storage/feed/changes.ts'
import type { Reader, Writer } from '../../storage/engine/database.ts'
import { extentOf, isLarger, moveNode, recordSubtree, type Extent } from '../../storage/files/nodes.ts'
import { roomRootOf } from '../../storage/files/room-files.ts'
import {
  markTrashForRemoval,
  entryOf,
  reviveEntry,
  sizeOf,
  trashOf,
  unmarkTop,
  type Bytes,
  type Entry,
} from '../../storage/files/trash.ts'
import { extentBelow, setState } from '../../storage/files/tree-slices.ts'
import type { FileParts } from './file-parts.ts'
import { assertReach, nameKey, pathOf, segmentsOf, TEAMCHAT } from './paths.ts'
import { assertOneTree, scopeOfTree, type ParsedPath } from './path-resolver.ts'
import { foldersFor, type RoomFolder } from './room-folders.ts'
import { recordNodes, type ResolvedPath } from './tree.ts'
import { assertWithin, quotaOf } from './allowance.ts'

type Parts = Pick<FileParts, 'database' | 'clock' | 'tree' | 'reach' | 'allowance' | 'bounds' | 'jobs'>

/** Maximum number of nodes restored in the first transaction; larger entries are finished in slices. */
const BATCH_SIZE = 50

/** The desktop's current path of an entry, even if its room was renamed. */
export function pathIn(rooms: RoomFolder[], { room_id, path }: Pick<Entry, 'room_id' | 'path'>): string {
  if (room_id === null) return path
  return pathOf([TEAMCHAT, rooms.find(({ id }) => id === room_id)!.name]) + path
}

/** Restores the top of an entry, without its content yet. Fault `exists` if the location is taken. */
export async function placeEntry(
  { tree, clock }: Pick<Parts, 'tree' | 'clock'>,
  tx: Writer,
  spot: ResolvedPath,
  { node_id: node }: Pick<Entry, 'node_id'>,
): Promise<void> {
  const now = clock.now()
  const place = await tree.ensureParents(tx, spot, now)
  if (place.node) throw fault('exists')
  await moveNode(tx, node, { parent_id: place.parent, name: place.name, name_key: nameKey(place.name) }, now)
  await unmarkTop(tx, node)
  await recordNodes(tx, spot, [...place.made, node], 0, now)
}

/** Restores entries, as steps of a transaction. */
function makeRestore({ clock, tree, reach, allowance, bounds, jobs }: Parts) {
  async function present(on: Reader, user: number, id: number): Promise<Entry> {
    const entry = await entryOf(on, user, id)
    if (!entry) throw fault('not_found')
    return entry
  }

  /** The target of a restoration: the given path, or the original one. */
  async function spotFor(tx: Writer, user: number, entry: Entry, to: ParsedPath | undefined): Promise<ResolvedPath> {
    const { room_id: room } = entry
    const root = room === null ? await tree.root(tx, user) : await roomRootOf(tx, room)
    const former = { user, room, root, segments: segmentsOf(entry.path) }
    if (!to) return former
    const wanted = await reach.resolve(tx, user, to)
    assertOneTree(former, wanted)
    return wanted
  }

  /** Adds restored bytes to the accounts that store them. Fault `quota_exceeded`. */
  async function count(tx: Writer, bytes: Bytes): Promise<void> {
    for (const [payer, size] of bytes) {
      const { used_bytes: used } = await advance(tx, payer, 0, size)
      assertWithin(await quotaOf(tx, payer, allowance), used, size)
    }
  }

  /** Refuses a restoration beyond the quota of the accounts that store it. Fault `quota_exceeded`. */
  async function assertRoom(tx: Writer, bytes: Bytes): Promise<void> {
    for (const [payer, size] of bytes) {
      const { used_bytes: used } = await advance(tx, payer, 0)
      assertWithin(await quotaOf(tx, payer, allowance), used + size, size)
    }
  }

  async function restoreIn(tx: Writer, user: number, id: number, to: ParsedPath | undefined, measured?: Extent) {
    const entry = await present(tx, user, id)
    if (entry.state !== 'kept') throw fault('busy', { text: 'It is still being deleted.', retryAfter: 5 })
    const spot = await spotFor(tx, user, entry, to)
    if (entry.type === 'directory')
      assertReach(spot.segments, measured ?? (await extentOf(tx, entry.node_id, entry.id)))
    const held = await sizeOf(tx, entry.id)
    await bounds.claim(tx, user, held.nodes)
    const now = clock.now()
    if (entry.type === 'directory' && (await isLarger(tx, entry.node_id, BATCH_SIZE, entry.id))) {
      await placeEntry({ tree, clock }, tx, spot, entry)
      await assertRoom(tx, held.bytes)
      await setState(tx, entry.id, 'kept', 'reviving', now)
      jobs.soon(user)
      return { room_id: entry.room_id, path: pathOf(spot.segments) }
    }
    const place = await tree.ensureParents(tx, spot, now)
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

  return { present, restoreIn }
}

/** The trash of accounts: deleted files of their own tree, and of rooms while they are members. */
export const makeTrash = (parts: Parts) => {
  const { database, clock, reach, allowance, jobs } = parts
  const { present, restoreIn } = makeRestore(parts)

  return {
    restoreIn,

    /** Entries, newest first; `path` is the original one. */
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
     * Restores an entry to its original path, or to another path of the same tree, and creates missing parents. Returns its
     * path. Faults: `not_found`, `exists`, `bad_path`, `quota_exceeded`, `cross_domain`.
     */
    async restore(user: number, id: number, to: string | undefined): Promise<string> {
      const address = to === undefined ? undefined : reach.parse(to)
      await jobs.settle(user)
      const entry = await present(database.read, user, id)
      const measured = await extentBelow(database.read, entry.node_id, entry.id)
      const path = await database.write(scopeOfTree({ user_id: user, room_id: entry.room_id }), async (tx) => {
        const restored = await restoreIn(tx, user, id, address, measured)
        return pathIn(await foldersFor(tx, user), restored)
      })
      await jobs.finish(user)
      return path
    },

    /** Deletes an entry permanently. Fault `not_found`. */
    async remove(user: number, id: number): Promise<void> {
      await jobs.settle(user)
      await database.write({ accounts: [user] }, async (tx) => {
        await present(tx, user, id)
        await setState(tx, id, 'kept', 'dropping', clock.now())
      })
      await jobs.finish(user)
    },

    /** Empties the trash permanently. Returns the number of entries. */
    async empty(user: number): Promise<number> {
      await jobs.settle(user)
      let count = 0
      for (;;) {
        const some = await database.write({ accounts: [user] }, (tx) => markTrashForRemoval(tx, user, clock.now()))
        await jobs.settle(user)
        if (some === 0) return count
        count += some
      }
    },
  }
}
