import { badRequest, fault } from '../../contract/errors.ts'
import { advance } from '../../storage/feed/changes.ts'
import type { Database, Writer } from '../../storage/engine/database.ts'
import { extentOf, insertNode, isLarger, recordSubtree, subtreeOf, type Node } from '../../storage/files/nodes.ts'
import {
  beginEntry,
  extentBelow,
  isFilling,
  nodesBelow,
  presentContents,
  setState,
  SLICE,
} from '../../storage/files/tree-slices.ts'
import type { FileParts } from './file-parts.ts'
import { addressesOf, isWithin } from './change.ts'
import { assertReach, nameKey } from './paths.ts'
import { assertOneTree, type ParsedPath, scopeOf, scopeOfTree } from './path-resolver.ts'
import { placeEntry } from './trash.ts'
import { filling, recordNodes, type EntryLocation, type ResolvedPath } from './tree.ts'
import { assertWithin, quotaOf } from './allowance.ts'

type Parts = Pick<FileParts, 'database' | 'clock' | 'tree' | 'reach' | 'allowance' | 'bounds' | 'heavy' | 'jobs'>

/** Maximum number of nodes copied in one transaction; larger trees are staged, hidden, in slices. */
const BATCH_SIZE = 200

interface CopyOf {
  parent: number
  name: string
  /** The trash entry that hides the copy. */
  entry: number | null
}

function insertCopy(
  tx: Writer,
  node: Node,
  { user, room }: ResolvedPath,
  { parent, name, entry }: CopyOf,
  now: number,
) {
  const { type, sha256, size, mtime } = node
  const place = { parent_id: parent, name, name_key: nameKey(name), trash_id: entry }
  return insertNode(tx, { user_id: user, room_id: room, ...place, type, sha256, size, mtime }, now)
}

/** Inserts copies of the nodes of a tree at a location; returns the id of the top. */
async function insertCopies(
  tx: Writer,
  nodes: Node[],
  target: ResolvedPath,
  { parent, name }: EntryLocation,
  now: number,
) {
  const copies = new Map<number, number>()
  for (const [index, node] of nodes.entries()) {
    const copy = index === 0 ? { parent, name } : { parent: copies.get(node.parent_id!)!, name: node.name }
    copies.set(node.id, await insertCopy(tx, node, target, { ...copy, entry: null }, now))
  }
  return copies.get(nodes[0]!.id)!
}

/** Stages large copies, hidden behind a trash entry. */
function makeStaging({ database, clock, bounds, heavy, jobs }: Parts) {
  /** A snapshot of the nodes to copy, parents first. */
  const listing = (top: number): Promise<Node[]> =>
    database.snapshot(async (at) => {
      const nodes: Node[] = []
      for await (const page of nodesBelow(at, top)) for (const node of page) nodes.push(node)
      return nodes
    })

  /** Stages a hidden copy in slices; returns its trash entry and its bytes. */
  async function stage(user: number, top: Node, target: ResolvedPath) {
    const nodes = await listing(top.id)
    const copies = new Map<number, number>()
    let bytes = 0
    const entry = await database.write(scopeOfTree({ user_id: user, room_id: target.room }), async (tx) => {
      const now = clock.now()
      await bounds.claim(tx, user, nodes.length)
      // Its location is irrelevant while it is hidden.
      const copy = await insertCopy(tx, top, target, { parent: target.root!, name: top.name, entry: HIDDEN }, now)
      copies.set(top.id, copy)
      return beginEntry(tx, copy, { user, path: '/', state: 'staging' }, now)
    })
    try {
      for (let at = 0; at < nodes.length; at += SLICE) {
        const slice = nodes.slice(at, at + SLICE)
        const work = async (tx: Writer) => {
          const now = clock.now()
          if (!(await setState(tx, entry, 'staging', 'staging', now))) throw fault('conflict')
          await assertContents(tx, slice)
          for (const node of slice) {
            const copy = { parent: copies.get(node.parent_id!)!, name: node.name, entry }
            copies.set(node.id, await insertCopy(tx, node, target, copy, now))
          }
        }
        await heavy.slice(() => database.write(scopeOfTree({ user_id: user, room_id: target.room }), work))
        bytes += slice.reduce((sum, { size }) => sum + size, 0)
      }
    } catch (error) {
      await abandon(user, entry)
      throw error
    }
    return { entry, bytes, copy: copies.get(top.id)! }
  }

  async function abandon(user: number, entry: number): Promise<void> {
    await database.write({ accounts: [user] }, (tx) => setState(tx, entry, 'staging', 'dropping', clock.now()))
    await jobs.finish(user)
  }

  return { stage, abandon }
}

/** Copies within one tree: only rows, the contents are shared. */
export const makeCopy = (parts: Parts) => {
  const { database, clock, tree, reach, allowance, bounds, heavy, jobs } = parts
  const { stage, abandon } = makeStaging(parts)

  async function lookUp(tx: Writer | Database['read'], user: number, from: ParsedPath, to: ParsedPath) {
    const source = await reach.resolve(tx, user, from)
    const target = await reach.resolve(tx, user, to)
    assertOneTree(source, target)
    const node = await tree.find(tx, source)
    if (!node) throw fault('not_found')
    if (isWithin(target.segments, source.segments)) throw badRequest('to', 'a folder cannot be copied into itself')
    // A copy of a partly filled folder would look complete.
    if (node.type === 'directory' && (await isFilling(tx, node.id))) throw filling()
    return { target, node }
  }

  /** Copies in one transaction. Fault `too_many_operations` for a large tree. */
  async function copyIn(tx: Writer, user: number, from: ParsedPath, to: ParsedPath, quota: number): Promise<void> {
    const { target, node } = await lookUp(tx, user, from, to)
    if (await isLarger(tx, node.id, BATCH_SIZE)) {
      const text = `A copy together with other changes may have at most ${BATCH_SIZE} files and folders.`
      throw fault('too_many_operations', { text })
    }
    assertReach(target.segments, await extentOf(tx, node.id))
    const now = clock.now()
    const nodes = await subtreeOf(tx, node.id, BATCH_SIZE)
    const place = await tree.ensureParents(tx, target, now)
    if (place.node) throw fault('exists')
    const bytes = nodes.reduce((sum, { size }) => sum + size, 0)
    const made = await recordNodes(tx, target, place.made, bytes, now)
    // Checked before the work: the total is known.
    assertWithin(quota, made.used_bytes, bytes)
    await bounds.claim(tx, user, nodes.length)
    const top = await insertCopies(tx, nodes, target, place, now)
    if (target.room !== null) return
    const { seq } = await advance(tx, user, nodes.length)
    await recordSubtree(tx, user, top, seq, nodes.length, now)
  }

  /** Copies a large tree: stages it hidden, makes it visible in one transaction, and finishes it in slices. */
  async function copyLarge(user: number, from: ParsedPath, to: ParsedPath, quota: number): Promise<void> {
    const { target, node } = await lookUp(database.read, user, from, to)
    assertReach(target.segments, await extentBelow(database.read, node.id))
    if (await tree.find(database.read, target)) throw fault('exists')
    const { entry, bytes, copy } = await stage(user, node, target)
    try {
      await database.write(scopeOfTree({ user_id: user, room_id: target.room }), async (tx) => {
        const spot = await reach.resolve(tx, user, to)
        assertOneTree(spot, target)
        if (!(await setState(tx, entry, 'staging', 'reviving', clock.now()))) throw fault('conflict')
        await placeEntry({ tree, clock }, tx, spot, { node_id: copy })
        const { used_bytes: used } = await advance(tx, user, 0)
        assertWithin(quota, used + bytes, bytes)
      })
    } catch (error) {
      await abandon(user, entry)
      throw error
    }
    await jobs.finish(user)
  }

  return {
    copyIn,

    /**
     * Copies a file or folder and creates missing parents of the target. Faults: `bad_path`, `not_found`, `exists`,
     * `bad_request` for a folder into itself, `quota_exceeded`, `too_many_files`, `cross_domain`, `busy` if the account
     * runs too many large operations or the source is still being restored, `conflict` if it was deleted permanently
     * meanwhile.
     */
    async copy(user: number, from: string, to: string): Promise<void> {
      const [source, target] = addressesOf(reach, from, to)
      const quota = await quotaOf(database.read, user, allowance)
      const { node } = await lookUp(database.read, user, source, target)
      if (!(await isLarger(database.read, node.id, BATCH_SIZE)))
        return database.write(scopeOf(user, source, target), (tx) => copyIn(tx, user, source, target, quota))
      return heavy.run(user, () => copyLarge(user, source, target, quota))
    },
  }
}

/** Marks a node within the transaction until its trash entry exists. */
const HIDDEN = -1

/** Refuses to copy contents that were deleted permanently since they were listed. Fault `conflict`. */
async function assertContents(tx: Writer, nodes: readonly Node[]): Promise<void> {
  const hashes = [...new Set(nodes.flatMap(({ sha256 }) => sha256 ?? []))]
  if (hashes.length > 0 && (await presentContents(tx, hashes)).size < hashes.length) throw fault('conflict')
}
