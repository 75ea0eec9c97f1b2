import { fault } from '../../contract/errors.ts'
import { ARCHIVE } from '../../contract/limits.ts'
import type { Reader } from '../../storage/engine/database.ts'
import { entriesOfAll, mtimeOf, type NodeSummary } from '../../storage/files/nodes.ts'
import { roomRootOf } from '../../storage/files/room-files.ts'
import { yieldToOthers } from '../turn.ts'
import type { FileParts } from './file-parts.ts'
import { folderAt } from './folder-at.ts'
import { isReserved, segmentsOf, TEAMCHAT, TEAMCHAT_ID, type Segments } from './paths.ts'
import { foldersFor, type RoomFolder } from './room-folders.ts'

export interface Packed {
  /** Path within the archive; a folder's ends with a slash. */
  name: string
  sha256: string | null
  size: number
  /** Seconds. */
  mtime: number
}

/** The entries of an archive, from one snapshot. */
export interface Pack {
  /** Name of the folder; empty for the root. */
  folder: string
  /** Parents first. */
  entries: Packed[]
}

interface Item {
  id: number
  name: string
  sha256: string | null
  size: number
  mtime: number
  /** Node of a folder; undefined for a room without files, and for `/Teamchat`. */
  node: number | undefined
  rooms?: readonly Item[]
}

type Parts = Pick<FileParts, 'database' | 'tree' | 'reach' | 'heavy'>

const MAX = ARCHIVE.max_entries
/** Folders per query. */
const TOGETHER = 100
const PAGE = 1_000

const assertFits = (count: number): void => {
  if (count > MAX) throw fault('too_many_operations', { text: `An archive may have at most ${MAX} files and folders.` })
}

/** A prefix that unpackers on Windows take for a drive. Replaced; names within an archive stay distinct. */
const DRIVE = /^[A-Za-z]:/
function withoutDrives(items: readonly Item[]): Item[] {
  const taken = new Set(items.map(({ name }) => name))
  return items.map((item) => {
    if (!DRIVE.test(item.name)) return item
    let name = item.name.replace(':', '_')
    while (taken.has(name)) name = name.replace('_', '__')
    taken.add(name)
    return { ...item, name }
  })
}

/** The selected items. Fault `not_found` if one is missing. */
function chosenOf(items: readonly Item[], ids: ReadonlySet<number>): Item[] {
  const chosen = items.filter(({ id }) => ids.has(id))
  if (chosen.length < ids.size) throw fault('not_found')
  return chosen
}

/** The entries of folders, page by page; other work runs in between. */
async function* pagesOf(on: Reader, folders: readonly number[]): AsyncGenerator<NodeSummary[]> {
  for (let after: NodeSummary | undefined; ;) {
    const page = await entriesOfAll(on, folders, PAGE, after)
    if (page.length > 0) yield page
    if (page.length < PAGE) return
    after = page.at(-1)
    await yieldToOthers()
  }
}

/** Items with everything below them, breadth first. Fault `too_many_operations`. */
async function expand(on: Reader, items: readonly Item[]): Promise<Packed[]> {
  const entries: Packed[] = []
  let level = new Map<number, string>()
  const add = (item: Omit<Item, 'id' | 'rooms'>, above: string, next: Map<number, string>): string => {
    const { sha256, size, mtime } = item
    const name = `${above}${item.name}${sha256 === null ? '/' : ''}`
    entries.push({ name, sha256, size, mtime })
    if (sha256 === null && item.node !== undefined) next.set(item.node, name)
    return name
  }
  for (const item of withoutDrives(items)) {
    const name = add(item, '', level)
    for (const room of item.rooms ?? []) add(room, name, level)
  }
  assertFits(entries.length)
  while (level.size > 0) {
    const next = new Map<number, string>()
    const folders = [...level.keys()]
    for (let at = 0; at < folders.length; at += TOGETHER) {
      for await (const rows of pagesOf(on, folders.slice(at, at + TOGETHER))) {
        for (const row of rows) add({ ...row, node: row.id }, level.get(row.parent_id!)!, next)
        assertFits(entries.length)
      }
    }
    level = next
  }
  return entries
}

export const makePack = ({ database, tree, reach, heavy }: Parts) => {
  async function roomItem(on: Reader, { id, name, modified }: RoomFolder): Promise<Item> {
    const mtime = Math.floor(Date.parse(modified) / 1_000)
    return { id, name, sha256: null, size: 0, mtime, node: await roomRootOf(on, id) }
  }

  /** `/Teamchat`, modified when its newest room was. */
  async function teamchat(on: Reader, user: number, since: number): Promise<Item> {
    const rooms: Item[] = []
    for (const folder of await foldersFor(on, user)) rooms.push(await roomItem(on, folder))
    const mtime = Math.max(since, ...rooms.map((room) => room.mtime))
    return { id: TEAMCHAT_ID, name: TEAMCHAT, sha256: null, size: 0, mtime, node: undefined, rooms }
  }

  async function itemsOf(on: Reader, node: number | undefined): Promise<Item[]> {
    if (node === undefined) return []
    const items: Item[] = []
    for await (const rows of pagesOf(on, [node])) {
      for (const row of rows) items.push({ ...row, node: row.sha256 === null ? row.id : undefined })
      assertFits(items.length)
    }
    return items
  }

  async function packIn(on: Reader, user: number, segments: Segments, ids?: ReadonlySet<number>): Promise<Packed[]> {
    const folder = segments.at(-1)
    if (folder === undefined) {
      const root = await tree.root(on, user)
      const items = [await teamchat(on, user, await mtimeOf(on, root)), ...(await itemsOf(on, root))]
      return expand(on, ids ? chosenOf(items, ids) : items)
    }
    if (isReserved(segments[0]) && segments.length === 1) {
      const all = await teamchat(on, user, 0)
      return expand(on, ids ? chosenOf(all.rooms!, ids) : [all])
    }
    const node = await folderAt({ tree, reach }, on, user, segments)
    if (ids) return expand(on, chosenOf(await itemsOf(on, node), ids))
    const mtime = node === undefined ? 0 : await mtimeOf(on, node)
    return expand(on, [{ id: 0, name: folder, sha256: null, size: 0, mtime, node }])
  }

  return {
    /** Includes room files for members only. Faults: `bad_path`, `not_found` (also for files), `too_many_operations`. */
    async pack(user: number, path: string, ids?: ReadonlySet<number>): Promise<Pack> {
      const segments = segmentsOf(path)
      const entries = await heavy.run(user, () => database.snapshot((on) => packIn(on, user, segments, ids)))
      return { folder: segments.at(-1) ?? '', entries }
    },
  }
}
