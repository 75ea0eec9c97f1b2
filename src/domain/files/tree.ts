import { fault } from '../../contract/errors.ts'
import { advance, recordAt } from '../../storage/changes.ts'
import type { Reader, Writer } from '../../storage/database.ts'
import { childOf, insertNode, rootOf, type Node } from '../../storage/files.ts'
import { nameKey, type Segments } from './paths.ts'

/** The folder of the feed's `svc_files` rows. */
export const FILES_TABLE = 'svc_files'

/** Where the last segment of a path would be: its folder, its name, and what is there. */
export interface Place {
  parent: number
  name: string
  node: Node | undefined
}

/** Ids of root folders never change while the account lives. */
const roots = new WeakMap<object, Map<number, number>>()

async function rootFolder(on: Reader, user: number, cacheKey: object): Promise<number> {
  let known = roots.get(cacheKey)
  if (!known) roots.set(cacheKey, (known = new Map()))
  let root = known.get(user)
  if (root === undefined) known.set(user, (root = await rootOf(on, user)))
  return root
}

/** Walking and growing the tree of an account. */
export function makeTree(cacheKey: object) {
  /** Folders down to the last but one segment; undefined when one is missing or a file. */
  async function parentOf(on: Reader, user: number, segments: Segments): Promise<number | undefined> {
    let parent = await rootFolder(on, user, cacheKey)
    for (const name of segments.slice(0, -1)) {
      const node = await childOf(on, parent, nameKey(name))
      if (node?.type !== 'directory') return undefined
      parent = node.id
    }
    return parent
  }

  return {
    root: (on: Reader, user: number) => rootFolder(on, user, cacheKey),

    /** The node at a path other than the root, or undefined. */
    async find(on: Reader, user: number, segments: Segments): Promise<Node | undefined> {
      const parent = await parentOf(on, user, segments)
      return parent === undefined ? undefined : childOf(on, parent, nameKey(segments.at(-1)!))
    },

    /**
     * The place of a path, creating missing folders on the way. Fault `exists` when a file stands in the way. Returns the
     * ids of the folders made, whose changes are still to be recorded.
     */
    async makePlace(tx: Writer, user: number, segments: Segments, now: number): Promise<Place & { made: number[] }> {
      const made: number[] = []
      let parent = await rootFolder(tx, user, cacheKey)
      for (const name of segments.slice(0, -1)) {
        const node = made.length > 0 ? undefined : await childOf(tx, parent, nameKey(name))
        if (node?.type === 'file') throw fault('exists', { text: `"${name}" in the path is a file.` })
        if (node) parent = node.id
        else made.push((parent = await insertFolder(tx, user, parent, name, now)))
      }
      const name = segments.at(-1)!
      return { parent, name, node: made.length > 0 ? undefined : await childOf(tx, parent, nameKey(name)), made }
    },
  }
}

export type Tree = ReturnType<typeof makeTree>

export const insertFolder = (tx: Writer, user: number, parent: number, name: string, now: number): Promise<number> =>
  insertNode(
    tx,
    {
      user_id: user,
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

/** Writes the change of each node into the feed and moves the account's usage; returns the new head. */
export async function recordNodes(tx: Writer, user: number, nodes: number[], bytes: number, now: number) {
  const head = await advance(tx, user, nodes.length, bytes)
  let seq = head.seq - nodes.length
  for (const row of nodes) await recordAt(tx, ++seq, now, { user, table: FILES_TABLE, row, deleted: false })
  return head
}
