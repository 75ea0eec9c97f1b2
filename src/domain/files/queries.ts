import type { Readable } from 'node:stream'
import { fault } from '../../contract/errors.ts'
import { headOf, newestOf } from '../../storage/feed/changes.ts'
import type { Reader } from '../../storage/engine/database.ts'
import { filesAfter, foldersOf, type Node } from '../../storage/files/nodes.ts'
import { JsonList } from '../json-list.ts'
import { yieldToOthers } from '../turn.ts'
import type { FileParts } from './file-parts.ts'
import { segmentsOf } from './paths.ts'
import { FILES_TABLE } from './tree.ts'

export interface FileFacts {
  sha256: string
  size: number
  mtime: number
}

/** Identifies a content in the addresses of its thumbnails. */
export const tagOf = (sha256: string): string => sha256.slice(0, 16)

const PAGE = 5_000

type Parts = Pick<FileParts, 'database' | 'contents' | 'tree'>

/** Facts of a file for a download. Fault `not_found`, also for folders. */
export function factsOf(node: Node | undefined): FileFacts {
  if (node?.type !== 'file') throw fault('not_found')
  return { sha256: node.sha256!, size: node.size, mtime: node.mtime }
}

/** Paths of all live folders by id; the root's is empty. A folder with a deleted ancestor has none. */
export async function folderPaths(at: Reader, user: number, root: number): Promise<Map<number, string>> {
  const folders = await foldersOf(at, user)
  const byId = new Map(folders.map((folder) => [folder.id, folder]))
  const paths = new Map([[root, '']])
  for (const folder of folders) {
    const chain: typeof folders = []
    let next: (typeof folders)[number] | undefined = folder
    while (next && !paths.has(next.id)) {
      chain.push(next)
      next = next.parent_id === null ? undefined : byId.get(next.parent_id)
    }
    if (!next) continue
    for (const link of chain.reverse()) paths.set(link.id, `${paths.get(link.parent_id!)}/${link.name}`)
  }
  return paths
}

function buildManifest({ database, tree }: Parts, user: number, extra: Record<string, unknown>): Promise<Buffer[]> {
  return database.snapshot(async (at) => {
    const { seq } = (await headOf(at, user))!
    const paths = await folderPaths(at, user, await tree.root(at, user))
    const files = new JsonList()
    for (let after = 0; ;) {
      const rows = await filesAfter(at, user, after, PAGE)
      files.add(
        rows.flatMap(({ parent_id, name, size, sha256, mtime }) => {
          const folder = paths.get(parent_id)
          return folder === undefined ? [] : { path: `${folder}/${name}`, size, sha256, mtime }
        }),
      )
      if (rows.length < PAGE) break
      after = rows.at(-1)!.id
      // The snapshot stays consistent while other work runs.
      await yieldToOthers()
    }
    const folders = [...paths.values()].filter(Boolean)
    const head = JSON.stringify({ ok: true, ...extra, cursor: seq }).slice(0, -1)
    return [Buffer.from(`${head},"files":`), ...files.pieces, Buffer.from(`,"directories":${JSON.stringify(folders)}}`)]
  })
}

export function makeQueries(parts: Parts) {
  const { database, contents, tree } = parts
  /** Manifests in progress, by account and state of the tree. */
  const building = new Map<string, Promise<Buffer[]>>()
  return {
    /** Size, hash and modification time (s) of a file. Faults: `bad_path`, `not_found` (also for folders). */
    async facts(user: number, path: string): Promise<FileFacts> {
      const segments = segmentsOf(path)
      if (segments.length === 0) throw fault('not_found')
      const root = await tree.root(database.read, user)
      return factsOf(await tree.find(database.read, { user, room: null, root, segments }))
    },

    /** The bytes of a content; `end` is inclusive. */
    read: (sha256: string, range?: { start: number; end: number }): Promise<Readable | Buffer> =>
      contents.read(sha256, range),

    /** Identifies the state of the account's tree: unchanged while no file or folder changes. */
    async treeTag(user: number): Promise<string> {
      return String(await newestOf(database.read, user, FILES_TABLE))
    },

    /**
     * The account's manifest as chunks of JSON: `files`, `directories` and their cursor, from one snapshot. `extra` adds
     * fields. Concurrent requests for the same state share one.
     */
    manifest(user: number, tag: string, extra: Record<string, unknown>): Promise<readonly Buffer[]> {
      const key = `${user} ${tag}`
      const begun = building.get(key)
      if (begun) return begun
      const build = buildManifest(parts, user, extra).finally(() => building.delete(key))
      building.set(key, build)
      return build
    },
  }
}
