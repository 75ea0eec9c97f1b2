import type { Reader } from '../../storage/engine/database.ts'
import { filesAfter, rootOf, subtreeOf } from '../../storage/files/nodes.ts'
import { roomRootOf } from '../../storage/files/room-files.ts'
import { folderPaths } from './queries.ts'

/** A file or folder with its path from the root. */
export interface TreeEntry {
  path: string
  sha256: string | null
  size: number
  /** Seconds. */
  mtime: number
}

const PAGE = 1_000

/** All live files and folders of an account's own tree, parents first. */
export async function* walkOwnTree(at: Reader, user: number): AsyncGenerator<TreeEntry> {
  const paths = await folderPaths(at, user, await rootOf(at, user))
  const folders = [...paths.values()].filter((path) => path !== '').sort()
  for (const path of folders) yield { path, sha256: null, size: 0, mtime: 0 }
  for (let after = 0; ;) {
    const page = await filesAfter(at, user, after, PAGE)
    for (const { parent_id, name, sha256, size, mtime } of page) {
      const folder = paths.get(parent_id)
      if (folder !== undefined) yield { path: `${folder}/${name}`, sha256, size, mtime }
    }
    if (page.length < PAGE) return
    after = page.at(-1)!.id
  }
}

/** All files and folders of a room, parents first. */
export async function* walkRoom(at: Reader, room: number): AsyncGenerator<TreeEntry> {
  const root = await roomRootOf(at, room)
  if (root === undefined) return
  const paths = new Map([[root, '']])
  for (const { id, parent_id, name, type, sha256, size, mtime } of await subtreeOf(at, root, Number.MAX_SAFE_INTEGER)) {
    if (id === root) continue
    const path = `${paths.get(parent_id!)}/${name}`
    if (type === 'directory') paths.set(id, path)
    yield { path, sha256, size, mtime }
  }
}
