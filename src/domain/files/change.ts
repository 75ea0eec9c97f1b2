import type { Clock } from '../../base/clock.ts'
import { badRequest, fault } from '../../contract/errors.ts'
import { advance } from '../../storage/changes.ts'
import type { Database } from '../../storage/database.ts'
import { hasChildren, moveNode, reachOf, recordTrashed, trashNode } from '../../storage/files.ts'
import { assertRoom, nameKey, ownSegments, pathOf } from './paths.ts'
import { expect } from './preconditions.ts'
import { insertFolder, recordNodes, type Tree } from './tree.ts'

interface Parts {
  database: Database
  clock: Clock
  tree: Tree
  announce: (user: number) => void
}

/** Changing the account's tree without new contents. */
export const makeChange = ({ database, clock, tree, announce }: Parts) => ({
  /**
   * Deletes a file or a folder with everything below it; it stays in the trash. False when there was nothing. Faults:
   * `bad_path`, `precondition_failed`, `not_empty` with `ifEmpty`.
   */
  async remove(
    user: number,
    path: string,
    when: { sha256?: string | undefined; ifEmpty?: boolean | undefined },
  ): Promise<boolean> {
    const segments = ownSegments(path)
    const removed = await database.write(async (tx) => {
      const node = await tree.find(tx, user, segments)
      if (!node) return false
      if (when.sha256 !== undefined) expect(node, { sha256: when.sha256 })
      if (when.ifEmpty && node.type === 'file') throw fault('conflict', { text: 'It is a file, not an empty folder.' })
      if (when.ifEmpty && (await hasChildren(tx, node.id))) throw fault('not_empty')
      const now = clock.now()
      const { entry, nodes, bytes } = await trashNode(tx, node, pathOf(segments), now)
      const { seq } = await advance(tx, user, nodes, -bytes)
      await recordTrashed(tx, user, entry, seq, nodes, now)
      return true
    })
    if (removed) announce(user)
    return removed
  },

  /** Creates a folder and its missing parents; false when it was there. Faults: `bad_path`, `exists` for a file. */
  async makeFolder(user: number, path: string): Promise<boolean> {
    const segments = ownSegments(path)
    const created = await database.write(async (tx) => {
      const now = clock.now()
      const { parent, name, node, made } = await tree.makePlace(tx, user, segments, now)
      if (node?.type === 'file') throw fault('exists', { text: 'There is a file with that name.' })
      if (node) return false
      const folder = await insertFolder(tx, user, parent, name, now)
      await recordNodes(tx, user, [...made, folder], 0, now)
      return true
    })
    if (created) announce(user)
    return created
  },

  /**
   * Moves or renames a file or folder, creating missing folders of the target. Faults: `bad_path`, `not_found`, `exists`
   * when the target is taken, `bad_request` for a folder into itself, `precondition_failed`.
   */
  async move(user: number, from: string, to: string, when: { sha256?: string | undefined }): Promise<void> {
    const source = ownSegments(from)
    const target = ownSegments(to)
    const inside =
      source.length < target.length && source.every((name, depth) => nameKey(name) === nameKey(target[depth]!))
    await database.write(async (tx) => {
      const node = await tree.find(tx, user, source)
      if (!node) throw fault('not_found')
      expect(node, when)
      if (inside) throw badRequest('to', 'a folder cannot be moved into itself')
      // What is in a folder gets other paths with it, and nobody could name those that are too long.
      if (node.type === 'directory') assertRoom(target, await reachOf(tx, node.id))
      const now = clock.now()
      const place = await tree.makePlace(tx, user, target, now)
      // The same node is no obstacle: two spellings of one name differ in their Unicode form only.
      if (place.node && (place.node.id !== node.id || place.name === node.name)) throw fault('exists')
      await moveNode(tx, node.id, { parent_id: place.parent, name: place.name, name_key: nameKey(place.name) }, now)
      await recordNodes(tx, user, [...place.made, node.id], 0, now)
    })
    announce(user)
  },
})
