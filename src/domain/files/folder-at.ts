import { fault } from '../../contract/errors.ts'
import type { Reader } from '../../storage/engine/database.ts'
import { roomRootOf } from '../../storage/files/room-files.ts'
import { isReserved, pathOf, type Segments } from './paths.ts'
import type { PathResolver } from './path-resolver.ts'
import { roomBehind } from './room-folders.ts'
import type { Tree } from './tree.ts'

/**
 * The node of a folder in the account's own tree or a room's, including the roots; undefined for a room without files.
 * Faults: `bad_path`, `not_found` (also for files), `forbidden` for `/Teamchat`.
 */
export async function folderAt(
  { tree, reach }: { tree: Tree; reach: PathResolver },
  on: Reader,
  user: number,
  segments: Segments,
): Promise<number | undefined> {
  if (segments.length === 0) return tree.root(on, user)
  const [first, room] = segments
  if (isReserved(first) && room !== undefined && segments.length === 2)
    return roomRootOf(on, (await roomBehind(on, user, room)).id)
  const node = await tree.find(on, await reach.resolve(on, user, reach.parse(pathOf(segments), 'thing')))
  if (node?.type !== 'directory') throw fault('not_found')
  return node.id
}
