import type { Readable } from 'node:stream'
import { iso } from '../../base/clock.ts'
import { formatSize } from '../../base/sizes.ts'
import { fault } from '../../contract/errors.ts'
import { headOf, newestOf } from '../../storage/changes.ts'
import type { Contents } from '../../storage/contents.ts'
import type { Database, Reader } from '../../storage/database.ts'
import { childrenOf, filesAfter, foldersOf, type Node } from '../../storage/files.ts'
import { segmentsOf } from './paths.ts'
import { FILES_TABLE, type Tree } from './tree.ts'
import { quotaOf, type Allowance } from './write.ts'

export interface Item {
  name: string
  type: 'file' | 'directory'
  size?: number
  modified: string
  mime?: string
}

export interface FileFacts {
  sha256: string
  size: number
  mtime: number
}

const PAGE = 5_000

interface Parts {
  database: Database
  contents: Contents
  tree: Tree
  allowance: () => Promise<Allowance>
  mimeOf: (name: string) => string
}

const order = (a: Item, b: Item): number =>
  a.type === b.type ? (a.name < b.name ? -1 : a.name > b.name ? 1 : 0) : a.type === 'directory' ? -1 : 1

/** Paths of all live folders by id, the root's empty. A folder whose parents are not all live has none. */
async function folderPaths(at: Reader, user: number, root: number): Promise<Map<number, string>> {
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

/** Looking at the account's tree. */
export const makeLook = ({ database, contents, tree, allowance, mimeOf }: Parts) => {
  const toItem = (node: Node): Item =>
    node.type === 'directory'
      ? { name: node.name, type: 'directory', modified: iso(node.mtime * 1_000) }
      : { name: node.name, type: 'file', size: node.size, modified: iso(node.mtime * 1_000), mime: mimeOf(node.name) }

  /** Manifests being put together, by account and state of its tree. */
  const building = new Map<string, Promise<Buffer[]>>()

  function buildManifest(user: number, extra: Record<string, unknown>): Promise<Buffer[]> {
    return database.snapshot(async (at) => {
      const { seq } = (await headOf(at, user))!
      const paths = await folderPaths(at, user, await tree.root(at, user))
      const pieces = [Buffer.from(`${JSON.stringify({ ok: true, ...extra, cursor: seq }).slice(0, -1)},"files":[`)]
      let separator = ''
      for (let after = 0; ;) {
        const rows = await filesAfter(at, user, after, PAGE)
        const entries = rows.flatMap(({ parent_id, name, size, sha256, mtime }) => {
          const folder = paths.get(parent_id)
          return folder === undefined ? [] : { path: `${folder}/${name}`, size, sha256, mtime }
        })
        if (entries.length > 0) {
          pieces.push(Buffer.from(separator + JSON.stringify(entries).slice(1, -1)))
          separator = ','
        }
        if (rows.length < PAGE) break
        after = rows.at(-1)!.id
        // The rows are the snapshot's; others may have their turn meanwhile.
        await new Promise((resolve) => setImmediate(resolve))
      }
      const folders = [...paths.values()].filter(Boolean)
      pieces.push(Buffer.from(`],"directories":${JSON.stringify(folders)}}`))
      return pieces
    })
  }

  return {
    /** What a folder holds, directories first, then by name. Faults: `bad_path`, `not_found`. */
    async list(user: number, path: string): Promise<Item[]> {
      const segments = segmentsOf(path)
      const folder =
        segments.length === 0
          ? await tree.root(database.read, user)
          : await tree
              .find(database.read, user, segments)
              .then((node) => (node?.type === 'directory' ? node.id : undefined))
      if (folder === undefined) throw fault('not_found')
      return (await childrenOf(database.read, folder)).map(toItem).sort(order)
    },

    /** Size, hash and time of a file. Faults: `bad_path`, `not_found` (also for folders). */
    async facts(user: number, path: string): Promise<FileFacts> {
      const segments = segmentsOf(path)
      const node = segments.length === 0 ? undefined : await tree.find(database.read, user, segments)
      if (node?.type !== 'file') throw fault('not_found')
      return { sha256: node.sha256!, size: node.size, mtime: node.mtime }
    },

    /** The bytes of a content this service handed out the hash of; `end` is inclusive. */
    read: (sha256: string, range?: { start: number; end: number }): Promise<Readable | Buffer> =>
      contents.read(sha256, range),

    /** What identifies the state of the account's tree: equal as long as no file or folder changed. */
    async treeTag(user: number): Promise<string> {
      return String(await newestOf(database.read, user, FILES_TABLE))
    },

    /**
     * The account's manifest in pieces of JSON text: `files` and `directories` with the cursor they belong to, from one
     * snapshot. `extra` are further fields of the document. Requests for the same state at the same time share one.
     */
    manifest(user: number, tag: string, extra: Record<string, unknown>): Promise<readonly Buffer[]> {
      const key = `${user} ${tag}`
      const begun = building.get(key)
      if (begun) return begun
      const build = buildManifest(user, extra).finally(() => building.delete(key))
      building.set(key, build)
      return build
    },

    /** Bytes used and allowed; a `total` of 0 is unlimited. */
    async quota(user: number) {
      const { used_bytes: used } = (await headOf(database.read, user))!
      const quota = await quotaOf(database.read, user, allowance)
      const total = Math.max(0, quota)
      return {
        used,
        total,
        percent: quota > 0 ? Math.floor((used * 100) / quota) : 0,
        used_formatted: formatSize(used),
        total_formatted: quota < 0 ? 'unbegrenzt' : formatSize(total),
      }
    },
  }
}
