import { iso } from '../../base/clock.ts'
import { makeKeyedMutex } from '../../base/keyed-mutex.ts'
import { formatSize } from '../../base/sizes.ts'
import { sortInTurns, yieldToOthers } from '../turn.ts'
import { fault } from '../../contract/errors.ts'
import { headOf } from '../../storage/feed/changes.ts'
import type { Contents } from '../../storage/contents/contents.ts'
import type { Reader } from '../../storage/engine/database.ts'
import { entriesAfter, mtimeOf, type Entry } from '../../storage/files/nodes.ts'
import type { FileParts } from './file-parts.ts'
import { contentBytes, utf8Text } from './content-bytes.ts'
import { folderAt } from './folder-at.ts'
import { factsOf, tagOf, type FileFacts } from './queries.ts'
import { mimeOf } from './mime.ts'
import { isReserved, pathOf, segmentsOf, TEAMCHAT, TEAMCHAT_ID, type Segments } from './paths.ts'
import { foldersFor } from './room-folders.ts'
import { quotaOf } from './allowance.ts'

export interface Item {
  /** Set if requested: identifies the item within its folder; 0 for `/Teamchat`, the room's id below it. */
  id?: number
  name: string
  type: 'file' | 'directory'
  size?: number
  modified: string
  mime?: string
  /** Set with `id`, of images. */
  tag?: string
}

/** Entries of a folder per query. */
const PART = 1_000

/** Maximum size of a text file for `text`, bytes. */
const TEXT_MAX = 5 * 1_048_576

type Parts = Pick<FileParts, 'database' | 'contents' | 'tree' | 'reach' | 'allowance'>

const toItem = ({ name, type, size, mtime }: Entry): Item => {
  const modified = iso(mtime * 1_000)
  return type === 'file' ? { name, type, size, modified, mime: mimeOf(name) } : { name, type, modified }
}

const folder = ({ name, modified }: Pick<Item, 'name' | 'modified'>): Item => ({ name, type: 'directory', modified })

/** Adds ids to items, and tags to images. */
const numbered =
  <T>(show: (one: T) => Item) =>
  (one: T & { id: number; sha256?: string | null }): Item => {
    const item = { id: one.id, ...show(one) }
    return item.mime?.startsWith('image/') && one.sha256 ? { ...item, tag: tagOf(one.sha256) } : item
  }

const order = (a: Item, b: Item): number =>
  a.type === b.type ? (a.name < b.name ? -1 : a.name > b.name ? 1 : 0) : a.type === 'directory' ? -1 : 1

async function textOf(contents: Contents, sha256: string): Promise<string> {
  const text = utf8Text(await contentBytes(await contents.read(sha256)))
  if (text === undefined) throw fault('unsupported_media_type', { text: 'The file is not UTF-8 text.' })
  return text
}

interface ListRequest {
  user: number
  segments: Segments
  ids: boolean
  parts: number
}

/** Reads all trees of an account: its own and those of its rooms. */
export const makeBrowse = ({ database, contents, tree, reach, allowance }: Parts) => {
  // One long listing per account at a time: each holds a snapshot.
  const exclusively = makeKeyedMutex<number>()
  /** Runs `look` in a snapshot for paths of rooms, so that membership and files are consistent. */
  const seen = <T>(segments: Segments, request: (on: Reader) => Promise<T>): Promise<T> =>
    isReserved(segments[0]) ? database.snapshot(request) : request(database.read)

  /** Items of a folder; undefined if they need more than `parts` queries. */
  async function itemsAt(
    on: Reader,
    { user, segments, parts }: ListRequest,
    show: (entry: Entry) => Item,
  ): Promise<Item[] | undefined> {
    const parent = await folderAt({ tree, reach }, on, user, segments)
    const items: Item[] = []
    for (let after = '', read = 1; parent !== undefined; read += 1) {
      const entries = await entriesAfter(on, { parent, after, limit: PART })
      for (const entry of entries) items.push(show(entry))
      if (entries.length < PART) break
      if (read === parts) return undefined
      after = entries.at(-1)!.name_key
      // The snapshot stays consistent while other work runs.
      await yieldToOthers()
    }
    return items
  }

  /** The items of a folder; undefined if they need more than `parts` queries. */
  async function listIn(on: Reader, request: ListRequest): Promise<Item[] | undefined> {
    const { user, segments, ids } = request
    const [showEntry, showFolder] = ids ? [numbered(toItem), numbered(folder)] : [toItem, folder]
    if (isReserved(segments[0]) && segments.length === 1) return (await foldersFor(on, user)).map(showFolder)
    const items = await itemsAt(on, request, showEntry)
    if (segments.length > 0 || !items) return items
    // Modified when its newest room was; without rooms, when the account was created.
    const times = (await foldersFor(on, user)).map(({ modified }) => modified)
    const created = iso((await mtimeOf(on, await tree.root(on, user))) * 1_000)
    items.push(showFolder({ id: TEAMCHAT_ID, name: TEAMCHAT, modified: [created, ...times].sort().at(-1)! }))
    return items
  }

  async function facts(user: number, path: string): Promise<FileFacts> {
    const segments = segmentsOf(path)
    const depth = isReserved(segments[0]) ? 3 : 1
    // Folders of rooms and their parents are never files.
    if (segments.length < depth) throw fault('not_found')
    const address = reach.parse(path, 'thing')
    return seen(segments, async (on) => factsOf(await tree.find(on, await reach.resolve(on, user, address))))
  }

  /** A text and its hash. Faults: `bad_path`, `not_found`, `too_large`, `unsupported_media_type`. */
  async function hashedText(user: number, path: string): Promise<{ content: string; sha256: string }> {
    const { sha256, size } = await facts(user, path)
    if (size > TEXT_MAX)
      throw fault('too_large', { text: `A text to be read may have at most ${formatSize(TEXT_MAX)}.` })
    return { content: await textOf(contents, sha256), sha256 }
  }

  return {
    facts,

    /** The items of a folder, directories first, then by name; `ids` adds their ids. Faults: `bad_path`, `not_found`. */
    async list(user: number, path: string, { ids = false } = {}): Promise<Item[]> {
      const segments = segmentsOf(path)
      const request = { user, segments, ids, parts: Infinity }
      const own = isReserved(segments[0]) ? undefined : await listIn(database.read, { ...request, parts: 1 })
      const items = own ?? (await exclusively(user, () => database.snapshot((on) => listIn(on, request))))
      return sortInTurns(items!, order)
    },

    /** The path of a room's folder below `/Teamchat`. Fault `not_found` for other rooms. */
    async roomFolder(user: number, room: number): Promise<string> {
      const folder = (await foldersFor(database.read, user)).find(({ id }) => id === room)
      if (!folder) throw fault('not_found')
      return pathOf([TEAMCHAT, folder.name])
    },

    hashedText,

    text: async (user: number, path: string): Promise<string> => (await hashedText(user, path)).content,

    /** Bytes used and allowed; a `total` of 0 means unlimited. */
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
