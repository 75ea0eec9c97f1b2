import type { Clock } from '../../base/clock.ts'
import { badRequest, fault } from '../../contract/errors.ts'
import { advance } from '../../storage/changes.ts'
import type { Database, Writer } from '../../storage/database.ts'
import { extentOf, hasChildren, moveNode, type Node } from '../../storage/files.ts'
import { dropEntry, recordTrashed, trashNode } from '../../storage/trash.ts'
import { assertReach, nameKey, pathOf, type Segments } from './paths.ts'
import { expect } from './preconditions.ts'
import { assertOneKind, assertOneTree, type Address, type Reach } from './reach.ts'
import { insertFolder, recordNodes, type Spot, type Tree } from './tree.ts'

interface Parts {
  database: Database
  clock: Clock
  tree: Tree
  reach: Reach
}

interface RemovalTerms {
  sha256?: string | undefined
  /** Only a folder with nothing in it. */
  ifEmpty?: boolean | undefined
}

/** Whether one place lies below another, or is it. */
export const isWithin = (inner: Segments, outer: Segments): boolean =>
  outer.length < inner.length && outer.every((name, depth) => nameKey(name) === nameKey(inner[depth]!))

async function assertTerms(tx: Writer, node: Node, { sha256, ifEmpty }: RemovalTerms): Promise<void> {
  if (sha256 !== undefined) expect(node, { sha256 })
  if (ifEmpty && node.type === 'file') throw fault('conflict', { text: 'It is a file, not an empty folder.' })
  if (ifEmpty && (await hasChildren(tx, node.id))) throw fault('not_empty')
}

/** Takes a node with everything below it out of its tree, into the trash; returns the entry there. */
async function discard(tx: Writer, { user, room, segments }: Spot, node: Node, now: number): Promise<number> {
  const { entry, nodes, bytes } = await trashNode(tx, node, { user, path: pathOf(segments) }, now)
  for (const [payer, count] of bytes) if (payer !== user) await advance(tx, payer, 0, -count)
  const own = bytes.get(user) ?? 0
  const { seq } = await advance(tx, user, room === null ? nodes : 0, -own)
  if (room === null) await recordTrashed(tx, user, entry, seq, nodes, now)
  return entry
}

/** Changing trees without new contents. What ends in `In` is one step of a transaction. */
export const makeChange = ({ database, clock, tree, reach }: Parts) => {
  const changes = {
    /** The entry of the trash; undefined when there was nothing. */
    async discardIn(tx: Writer, user: number, address: Address, when: RemovalTerms = {}): Promise<number | undefined> {
      const spot = await reach.spot(tx, user, address)
      const node = await tree.find(tx, spot)
      if (!node) return undefined
      await assertTerms(tx, node, when)
      return discard(tx, spot, node, clock.now())
    },

    removeIn: async (tx: Writer, user: number, address: Address, when: RemovalTerms): Promise<boolean> =>
      (await changes.discardIn(tx, user, address, when)) !== undefined,

    async makeFolderIn(tx: Writer, user: number, address: Address): Promise<boolean> {
      const spot = await reach.spot(tx, user, address)
      const now = clock.now()
      const { parent, name, node, made } = await tree.makePlace(tx, spot, now)
      if (node?.type === 'file') throw fault('exists', { text: 'There is a file with that name.' })
      if (node) return false
      const folder = await insertFolder(tx, spot, parent, name, now)
      await recordNodes(tx, spot, [...made, folder], 0, now)
      return true
    },

    async moveIn(tx: Writer, user: number, from: Address, to: Address, when: { sha256?: string | undefined }) {
      const source = await reach.spot(tx, user, from)
      const target = await reach.spot(tx, user, to)
      assertOneTree(source, target)
      const node = await tree.find(tx, source)
      if (!node) throw fault('not_found')
      expect(node, when)
      if (isWithin(target.segments, source.segments)) throw badRequest('to', 'a folder cannot be moved into itself')
      if (node.type === 'directory') assertReach(target.segments, await extentOf(tx, node.id))
      const now = clock.now()
      const place = await tree.makePlace(tx, target, now)
      // The same node is no obstacle: two spellings of one name differ in their Unicode form only.
      if (place.node && (place.node.id !== node.id || place.name === node.name)) throw fault('exists')
      await moveNode(tx, node.id, { parent_id: place.parent, name: place.name, name_key: nameKey(place.name) }, now)
      await recordNodes(tx, target, [...place.made, node.id], 0, now)
    },
  }

  return {
    ...changes,

    /**
     * Deletes a file or a folder with everything below it; it stays in the trash. False when there was nothing. Faults:
     * `bad_path`, `precondition_failed`, `not_empty` with `ifEmpty`.
     */
    async remove(user: number, path: string, when: RemovalTerms = {}): Promise<boolean> {
      const address = reach.address(path, 'thing')
      return database.write((tx) => changes.removeIn(tx, user, address, when))
    },

    /**
     * Deletes a file or a folder with everything below it for good; only what was put into the trash before, from inside
     * it, stays there. False when there was nothing. Faults: `bad_path`, `forbidden`.
     */
    async erase(user: number, path: string): Promise<boolean> {
      const address = reach.address(path, 'thing')
      return database.write(async (tx) => {
        const spot = await reach.spot(tx, user, address)
        const node = await tree.find(tx, spot)
        if (!node) return false
        await dropEntry(tx, await discard(tx, spot, node, clock.now()))
        return true
      })
    },

    /** Creates a folder and its missing parents; false when it was there. Faults: `bad_path`, `exists` for a file. */
    async makeFolder(user: number, path: string): Promise<boolean> {
      const address = reach.address(path)
      return database.write((tx) => changes.makeFolderIn(tx, user, address))
    },

    /**
     * Moves or renames a file or folder, creating missing folders of the target. Faults: `bad_path`, `not_found`, `exists`
     * when the target is taken, `bad_request` for a folder into itself, `precondition_failed`, `cross_domain`.
     */
    async move(user: number, from: string, to: string, when: { sha256?: string | undefined } = {}): Promise<void> {
      const [source, target] = addressesOf(reach, from, to)
      await database.write((tx) => changes.moveIn(tx, user, source, target, when))
    },
  }
}

export type Change = ReturnType<typeof makeChange>

/** The addresses of a move or a copy. Faults: those of both paths, and `cross_domain` for an own one and a room's. */
export function addressesOf(reach: Reach, from: string, to: string): [source: Address, target: Address] {
  const addresses: [Address, Address] = [reach.address(from, 'thing'), reach.address(to, 'thing')]
  assertOneKind(...addresses)
  return addresses
}
