import type { Clock } from '../../base/clock.ts'
import { badRequest, fault } from '../../contract/errors.ts'
import { advance } from '../../storage/changes.ts'
import type { Database, Writer } from '../../storage/database.ts'
import { extentOf, insertNode, recordSubtree, subtreeOf, type Node } from '../../storage/files.ts'
import { addressesOf, isWithin } from './change.ts'
import { assertReach, nameKey } from './paths.ts'
import { assertOneTree, type Address, type Reach } from './reach.ts'
import { recordNodes, type Place, type Spot, type Tree } from './tree.ts'
import { assertWithin, quotaOf, type Allowance } from './write.ts'

interface Parts {
  database: Database
  clock: Clock
  tree: Tree
  reach: Reach
  allowance: () => Promise<Allowance>
}

/** Files and folders of one copy: what costs no quota would otherwise double with each copy of a folder into another. */
const COPY_MAX = 20_000

/** Rows after which a long copy lets others have their turn. */
const TURN = 500

/** Inserts the nodes of a tree once more below another place; returns the id of the copy's top. */
async function insertCopies(tx: Writer, nodes: Node[], { user, room }: Spot, { parent, name }: Place, now: number) {
  const copies = new Map<number, number>()
  for (const [index, node] of nodes.entries()) {
    const place =
      index === 0 ? { parent_id: parent, name } : { parent_id: copies.get(node.parent_id!)!, name: node.name }
    const { type, sha256, size, mtime } = node
    const copy = { user_id: user, room_id: room, ...place, name_key: nameKey(place.name), type, sha256, size, mtime }
    copies.set(node.id, await insertNode(tx, copy, now))
    if (index % TURN === TURN - 1) await new Promise((resolve) => setImmediate(resolve))
  }
  return copies.get(nodes[0]!.id)!
}

/** Copying inside one tree: rows only, the contents are shared. */
export const makeCopy = ({ database, clock, tree, reach, allowance }: Parts) => {
  async function copyIn(tx: Writer, user: number, from: Address, to: Address, quota: number): Promise<void> {
    const source = await reach.spot(tx, user, from)
    const target = await reach.spot(tx, user, to)
    assertOneTree(source, target)
    const node = await tree.find(tx, source)
    if (!node) throw fault('not_found')
    if (isWithin(target.segments, source.segments)) throw badRequest('to', 'a folder cannot be copied into itself')
    assertReach(target.segments, await extentOf(tx, node.id))
    const now = clock.now()
    const nodes = await subtreeOf(tx, node.id, COPY_MAX + 1)
    if (nodes.length > COPY_MAX) {
      throw fault('too_many_operations', { text: `A copy may have at most ${COPY_MAX} files and folders.` })
    }
    const place = await tree.makePlace(tx, target, now)
    if (place.node) throw fault('exists')
    const bytes = nodes.reduce((sum, { size }) => sum + size, 0)
    const made = await recordNodes(tx, target, place.made, bytes, now)
    // Before the work: what does not fit is known from the sum.
    assertWithin(quota, made.used_bytes, bytes)
    const top = await insertCopies(tx, nodes, target, place, now)
    if (target.room !== null) return
    const { seq } = await advance(tx, user, nodes.length)
    await recordSubtree(tx, user, top, seq, nodes.length, now)
  }

  return {
    copyIn,

    /**
     * Copies a file or a folder with everything below it, creating missing folders of the target. Faults: `bad_path`,
     * `not_found`, `exists` when the target is taken, `bad_request` for a folder into itself, `quota_exceeded`,
     * `too_many_operations`, `cross_domain`.
     */
    async copy(user: number, from: string, to: string): Promise<void> {
      const [source, target] = addressesOf(reach, from, to)
      const quota = await quotaOf(database.read, user, allowance)
      await database.write((tx) => copyIn(tx, user, source, target, quota))
    },
  }
}
