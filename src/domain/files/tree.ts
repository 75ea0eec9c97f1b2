import { fault } from '../../contract/errors.ts'
import { advance, recordAll } from '../../storage/feed/changes.ts'
import type { Reader, Writer } from '../../storage/engine/database.ts'
import { childOf, insertNode, rootOf, type Node } from '../../storage/files/nodes.ts'
import { isAwaited } from '../../storage/files/tree-slices.ts'
import type { Bounds } from './bounds.ts'
import { nameKey, type Segments } from './paths.ts'

export const FILES_TABLE = 'svc_files'

/** A tree and the acting user: an account's own tree, or a room's, where files count towards the user who stores them. */
export interface TreeAccess {
  user: number
  room: number | null
  /** Undefined for a room without files. */
  root: number | undefined
}

/** A location in a tree, existing or not; no segments for the root. */
export interface ResolvedPath extends TreeAccess {
  segments: Segments
}

/** The parent, name and existing node of a path. */
export interface EntryLocation {
  parent: number
  name: string
  node: Node | undefined
  /** Parents created on the way, not yet recorded in the feed. */
  made: number[]
}

/** Ids of root folders never change while the account lives. */
const roots = new WeakMap<object, Map<number, number>>()

export const filling = () => fault('busy', { text: 'The folder is still being restored or copied.', retryAfter: 5 })

/** The node with a name in a folder. Fault `busy` if the name is reserved for a node being restored. */
async function liveChildOf(tx: Writer, parent: number, key: string): Promise<Node | undefined> {
  const node = await childOf(tx, parent, key)
  if (!node && (await isAwaited(tx, parent, key))) throw filling()
  return node
}

export function makeTree(cacheKey: object, bounds: Bounds) {
  let known = roots.get(cacheKey)
  if (!known) roots.set(cacheKey, (known = new Map()))
  const ownRoots = known

  return {
    /** The root folder of an account. */
    async root(on: Reader, user: number): Promise<number> {
      let root = ownRoots.get(user)
      if (root === undefined) ownRoots.set(user, (root = await rootOf(on, user)))
      return root
    },

    /** The node at a location other than the root; undefined if none. */
    async find(on: Reader, { root, segments }: ResolvedPath): Promise<Node | undefined> {
      let parent = root
      for (const name of segments.slice(0, -1)) {
        if (parent === undefined) return undefined
        const node = await childOf(on, parent, nameKey(name))
        parent = node?.type === 'directory' ? node.id : undefined
      }
      return parent === undefined ? undefined : childOf(on, parent, nameKey(segments.at(-1)!))
    },

    /** Faults: `exists` if a parent is a file, `busy` if one is being restored there, `too_many_files`. */
    async ensureParents(tx: Writer, location: ResolvedPath, now: number): Promise<EntryLocation> {
      const made: number[] = []
      let parent = location.root ?? (await insertFolder(tx, location, null, '', now))
      for (const name of location.segments.slice(0, -1)) {
        const node = made.length > 0 ? undefined : await liveChildOf(tx, parent, nameKey(name))
        if (node?.type === 'file') throw fault('exists', { text: `"${name}" in the path is a file.` })
        if (node) parent = node.id
        else {
          await bounds.claim(tx, location.user, 1)
          made.push((parent = await insertFolder(tx, location, parent, name, now)))
        }
      }
      const name = location.segments.at(-1)!
      return { parent, name, node: made.length > 0 ? undefined : await liveChildOf(tx, parent, nameKey(name)), made }
    },
  }
}

export type Tree = ReturnType<typeof makeTree>

export const insertFolder = (
  tx: Writer,
  { user, room }: TreeAccess,
  parent: number | null,
  name: string,
  now: number,
): Promise<number> =>
  insertNode(
    tx,
    {
      user_id: user,
      room_id: room,
      parent_id: parent,
      name,
      name_key: nameKey(name),
      type: 'directory',
      sha256: null,
      size: 0,
      mtime: Math.floor(now / 1_000),
    },
    now,
  )

/** Records changed nodes in the feed and the usage; returns the new head. Room files are in no feed. */
export async function recordNodes(tx: Writer, { user, room }: TreeAccess, nodes: number[], bytes: number, now: number) {
  const recorded = room === null ? nodes : []
  const head = await advance(tx, user, recorded.length, bytes)
  const changes = recorded.map((row) => ({ table: FILES_TABLE, row, deleted: false }))
  await recordAll(tx, user, head.seq, now, changes)
  return head
}
