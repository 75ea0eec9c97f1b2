import { fault } from '../../contract/errors.ts'
import type { Reader } from '../../storage/engine/database.ts'
import { roomRootOf } from '../../storage/files/room-files.ts'
import { isReserved, ownSegments, segmentsOf, type Segments } from './paths.ts'
import { roomBehind } from './rooms.ts'
import type { ResolvedPath, Tree } from './tree.ts'

/** A path understood, before anything was looked up: of the account's own tree, or of a room's. */
export interface ParsedPath {
  segments: Segments
  /** Name of the room's folder below `/Teamchat`. */
  room?: string
}

/** What a path is named for: `place` when something is to be there afterwards, `thing` when something is there. */
export type Naming = 'place' | 'thing'

/** Which trees the paths of an interface lead into. */
export interface PathResolver {
  /** Understands a path of something to be changed. Faults: `bad_path`, `forbidden` for folders that are no real ones. */
  parse(path: string, naming?: Naming): ParsedPath
  /**
   * Finds the tree. Membership of rooms is looked up here, so this belongs into the transaction that does the rest.
   * Faults: `not_found` for a room that is not the caller's, `forbidden` for its folder itself.
   */
  resolve(on: Reader, user: number, address: ParsedPath): Promise<ResolvedPath>
}

const virtual = () =>
  fault('forbidden', { text: 'The folders of chat rooms follow the rooms and cannot be changed here.' })

/** The account's own tree and nothing else. */
export const ownPathResolver = (tree: Tree): PathResolver => ({
  parse: (path) => ({ segments: ownSegments(path) }),
  resolve: async (on, user, { segments }) => ({ user, room: null, root: await tree.root(on, user), segments }),
})

/** The account's own tree, and below `/Teamchat` those of its rooms. */
export function pathResolver(tree: Tree): PathResolver {
  const own = ownPathResolver(tree)
  return {
    parse(path, naming = 'place') {
      const segments = segmentsOf(path)
      if (!isReserved(segments[0])) return own.parse(path)
      const [, room, ...inside] = segments
      if (room === undefined || (inside.length === 0 && naming === 'place')) throw virtual()
      return { room, segments: inside }
    },
    async resolve(on, user, address) {
      if (address.room === undefined) return own.resolve(on, user, address)
      const { id } = await roomBehind(on, user, address.room)
      if (address.segments.length === 0) throw virtual()
      return { user, room: id, root: await roomRootOf(on, id), segments: address.segments }
    },
  }
}

/** Refuses two addresses of which one is the account's own and the other a room's. Fault `cross_domain`. */
export function assertOneKind(from: ParsedPath, to: ParsedPath): void {
  if ((from.room === undefined) !== (to.room === undefined)) throw fault('cross_domain')
}

/** Refuses two spots of different trees. Fault `cross_domain`. */
export function assertOneTree(from: ResolvedPath, to: ResolvedPath): void {
  if (from.room !== to.room) throw fault('cross_domain')
}
