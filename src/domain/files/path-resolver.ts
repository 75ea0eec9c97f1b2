import { fault } from '../../contract/errors.ts'
import type { Reader, WriteScope } from '../../storage/engine/database.ts'
import { roomRootOf } from '../../storage/files/room-files.ts'
import { isReserved, ownSegments, segmentsOf, type Segments } from './paths.ts'
import { roomBehind } from './room-folders.ts'
import type { ResolvedPath, Tree } from './tree.ts'

/** A parsed path, before any query: in the account's own tree or a room's. */
export interface ParsedPath {
  segments: Segments
  /** Name of the room's folder below `/Teamchat`. */
  room?: string
}

/** The purpose of a path: `place` for something to create, `thing` for something that exists. */
export type Naming = 'place' | 'thing'

export interface PathResolver {
  /** Parses the path of something to change. Faults: `bad_path`, `forbidden` for virtual folders. */
  parse(path: string, naming?: Naming): ParsedPath
  /**
   * Resolves the tree. Checks the membership of rooms, so it runs in the transaction of the change. Faults: `not_found` for
   * a room the caller is not in, `forbidden` for its folder itself.
   */
  resolve(on: Reader, user: number, address: ParsedPath): Promise<ResolvedPath>
}

const virtual = () =>
  fault('forbidden', { text: 'The folders of chat rooms follow the rooms and cannot be changed here.' })

/** The account's own tree only. */
export const ownPathResolver = (tree: Tree): PathResolver => ({
  parse: (path) => ({ segments: ownSegments(path) }),
  resolve: async (on, user, { segments }) => ({ user, room: null, root: await tree.root(on, user), segments }),
})

/** The account's own tree, and its rooms' trees below `/Teamchat`. */
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

/** What a change at these paths writes. The files of a room belong to several accounts. */
export const scopeOf = (user: number, ...addresses: ParsedPath[]): WriteScope =>
  addresses.every(({ room }) => room === undefined) ? { accounts: [user] } : 'instance'

export const scopeOfTree = ({ user_id, room_id }: { user_id: number; room_id: number | null }): WriteScope =>
  room_id === null ? { accounts: [user_id] } : 'instance'

/** The scope of a change that also claims a content. */
export const withContent = (scope: WriteScope, { sha256 }: { sha256: string }): WriteScope =>
  scope === 'instance' ? scope : { ...scope, keys: [sha256] }

/** Refuses an own path together with a room's. Fault `cross_domain`. */
export function assertOneKind(from: ParsedPath, to: ParsedPath): void {
  if ((from.room === undefined) !== (to.room === undefined)) throw fault('cross_domain')
}

/** Refuses paths of different trees. Fault `cross_domain`. */
export function assertOneTree(from: ResolvedPath, to: ResolvedPath): void {
  if (from.room !== to.room) throw fault('cross_domain')
}
