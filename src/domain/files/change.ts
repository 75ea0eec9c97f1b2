import { badRequest, fault } from '../../contract/errors.ts'
import { advance } from '../../storage/feed/changes.ts'
import type { Writer } from '../../storage/engine/database.ts'
import { extentOf, hasChildren, isLarger, moveNode, type Extent, type Node } from '../../storage/files/nodes.ts'
import { recordTrashed, trashNode } from '../../storage/files/trash.ts'
import { beginEntry, extentBelow, isFilling, isInFilling, setState } from '../../storage/files/tree-slices.ts'
import type { FileParts } from './file-parts.ts'
import { assertReach, nameKey, pathOf, type Segments } from './paths.ts'
import { expect } from './preconditions.ts'
import { assertOneKind, assertOneTree, scopeOf, type ParsedPath, type PathResolver } from './path-resolver.ts'
import { filling, insertFolder, recordNodes, type ResolvedPath } from './tree.ts'

type Parts = Pick<FileParts, 'database' | 'clock' | 'tree' | 'reach' | 'bounds' | 'jobs'>

/** The measured extent of a folder before the transaction that moves it. */
export interface Measured {
  node: number
  extent: Extent
}

/** Maximum number of nodes measured inside a transaction. */
const MEASURED_INSIDE = 1_000

/** Maximum number of nodes deleted in the first transaction; larger trees are finished in slices. */
const BATCH_SIZE = 50

interface RemovalTerms {
  sha256?: string | undefined
  /** Only an empty folder. */
  ifEmpty?: boolean | undefined
}

export const isWithin = (inner: Segments, outer: Segments): boolean =>
  outer.length < inner.length && outer.every((name, depth) => nameKey(name) === nameKey(inner[depth]!))

/** Whether every path below `from` stays within the path limits below `to`. */
const fitsPathLimits = (from: Segments, to: Segments): boolean =>
  to.length <= from.length && Buffer.byteLength(pathOf(to)) <= Buffer.byteLength(pathOf(from))

async function assertTerms(tx: Writer, node: Node, { sha256, ifEmpty }: RemovalTerms): Promise<void> {
  if (sha256 !== undefined) expect(node, { sha256 })
  if (ifEmpty && node.type === 'file') throw fault('conflict', { text: 'It is a file, not an empty folder.' })
  if (ifEmpty && (await hasChildren(tx, node.id))) throw fault('not_empty')
}

/**
 * Moves a node with everything below it to the trash; returns the trash entry. Of a large tree only the top is marked,
 * which hides all of it; `TreeJobs` finishes the rest. Fault `busy` while it or a tree around it is being filled.
 */
async function discard(tx: Writer, { user, room, segments }: ResolvedPath, node: Node, now: number): Promise<number> {
  if (node.type === 'directory' && (await isFilling(tx, node.id))) throw filling()
  if (node.type === 'directory' && (await isLarger(tx, node.id, BATCH_SIZE)))
    return beginEntry(tx, node.id, { user, path: pathOf(segments), state: 'marking' }, now)
  const { entry, nodes, bytes } = await trashNode(tx, node, { user, path: pathOf(segments) }, now)
  for (const [payer, count] of bytes) if (payer !== user) await advance(tx, payer, 0, -count)
  const own = bytes.get(user) ?? 0
  const { seq } = await advance(tx, user, room === null ? nodes : 0, -own)
  if (room === null) await recordTrashed(tx, user, entry, seq, nodes, now)
  return entry
}

const makeSteps = ({ database, clock, tree, reach, bounds, jobs }: Parts) => ({
  /** Returns the trash entry; undefined if nothing existed. */
  async discardIn(tx: Writer, user: number, address: ParsedPath, when: RemovalTerms = {}): Promise<number | undefined> {
    const spot = await reach.resolve(tx, user, address)
    const node = await tree.find(tx, spot)
    if (!node) return undefined
    await assertTerms(tx, node, when)
    jobs.soon(user)
    return discard(tx, spot, node, clock.now())
  },

  async makeFolderIn(tx: Writer, user: number, address: ParsedPath): Promise<boolean> {
    const spot = await reach.resolve(tx, user, address)
    const now = clock.now()
    const { parent, name, node, made } = await tree.ensureParents(tx, spot, now)
    if (node?.type === 'file') throw fault('exists', { text: 'There is a file with that name.' })
    if (node) return false
    await bounds.claim(tx, user, 1)
    const folder = await insertFolder(tx, spot, parent, name, now)
    await recordNodes(tx, spot, [...made, folder], 0, now)
    return true
  },

  /** Measures a folder before a move, in slices: inside the transaction this would take too long. */
  async measure(user: number, from: ParsedPath): Promise<Measured | undefined> {
    const node = await tree.find(database.read, await reach.resolve(database.read, user, from))
    if (node?.type !== 'directory') return undefined
    return { node: node.id, extent: await extentBelow(database.read, node.id) }
  },

  async moveIn(
    tx: Writer,
    user: number,
    from: ParsedPath,
    to: ParsedPath,
    { measured, ...when }: { sha256?: string | undefined; measured?: Measured | undefined },
  ) {
    const source = await reach.resolve(tx, user, from)
    const target = await reach.resolve(tx, user, to)
    assertOneTree(source, target)
    const node = await tree.find(tx, source)
    if (!node) throw fault('not_found')
    expect(node, when)
    // Trees being restored below it are located by their path from the root.
    if (node.type === 'directory' && (await isInFilling(tx, node.id))) throw filling()
    if (isWithin(target.segments, source.segments)) throw badRequest('to', 'a folder cannot be moved into itself')
    if (node.type === 'directory' && !fitsPathLimits(source.segments, target.segments)) {
      if (measured?.node !== node.id && (await isLarger(tx, node.id, MEASURED_INSIDE)))
        throw fault('busy', { text: 'The folder contains too much to be moved together with other changes.' })
      assertReach(target.segments, measured?.node === node.id ? measured.extent : await extentOf(tx, node.id))
    }
    const now = clock.now()
    const place = await tree.ensureParents(tx, target, now)
    // The same node is allowed: the names differ only in Unicode form.
    if (place.node && (place.node.id !== node.id || place.name === node.name)) throw fault('exists')
    await moveNode(tx, node.id, { parent_id: place.parent, name: place.name, name_key: nameKey(place.name) }, now)
    await recordNodes(tx, target, [...place.made, node.id], 0, now)
  },
})

/** Changes of trees without new contents. Functions that end in `In` are steps of a transaction. */
export const makeChange = (parts: Parts) => {
  const { database, clock, tree, reach, jobs } = parts
  const steps = makeSteps(parts)
  const changes = {
    ...steps,
    removeIn: async (tx: Writer, user: number, address: ParsedPath, when: RemovalTerms): Promise<boolean> =>
      (await steps.discardIn(tx, user, address, when)) !== undefined,
  }
  return {
    ...changes,

    /** False if nothing existed. Faults: `bad_path`, `precondition_failed`, `not_empty` with `ifEmpty`. */
    async remove(user: number, path: string, when: RemovalTerms = {}): Promise<boolean> {
      const address = reach.parse(path, 'thing')
      const removed = await database.write(scopeOf(user, address), (tx) => changes.removeIn(tx, user, address, when))
      await jobs.finish(user)
      return removed
    },

    /** Deletes permanently; trash entries from inside it stay. False if nothing existed. Faults: `bad_path`, `forbidden`. */
    async erase(user: number, path: string): Promise<boolean> {
      const address = reach.parse(path, 'thing')
      const erased = await database.write(scopeOf(user, address), async (tx) => {
        const spot = await reach.resolve(tx, user, address)
        const node = await tree.find(tx, spot)
        if (!node) return false
        const now = clock.now()
        const entry = await discard(tx, spot, node, now)
        if (!(await setState(tx, entry, 'marking', 'erasing', now))) await setState(tx, entry, 'kept', 'dropping', now)
        return true
      })
      await jobs.finish(user)
      return erased
    },

    /** Creates a folder and its missing parents. Returns false if it existed. Faults: `bad_path`, `exists` for a file. */
    async makeFolder(user: number, path: string): Promise<boolean> {
      const address = reach.parse(path)
      return database.write(scopeOf(user, address), (tx) => changes.makeFolderIn(tx, user, address))
    },

    /**
     * Moves or renames a file or folder and creates missing parents of the target. Faults: `bad_path`, `not_found`,
     * `exists`, `bad_request` for a folder into itself, `precondition_failed`, `cross_domain`.
     */
    async move(user: number, from: string, to: string, when: { sha256?: string | undefined } = {}): Promise<void> {
      const [source, target] = addressesOf(reach, from, to)
      const measured = await changes.measure(user, source)
      await database.write(scopeOf(user, source, target), (tx) =>
        changes.moveIn(tx, user, source, target, { ...when, measured }),
      )
    },
  }
}

export type Change = ReturnType<typeof makeChange>

/** Parses the paths of a move or copy. Faults: those of both paths, and `cross_domain` for an own and a room's path. */
export function addressesOf(reach: PathResolver, from: string, to: string): [source: ParsedPath, target: ParsedPath] {
  const addresses: [ParsedPath, ParsedPath] = [reach.parse(from, 'thing'), reach.parse(to, 'thing')]
  assertOneKind(...addresses)
  return addresses
}
