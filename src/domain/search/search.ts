import { iso } from '../../base/clock.ts'
import { badRequest } from '../../contract/errors.ts'
import type { SearchKind, SearchResult } from '../../contract/search.ts'
import type { Contents } from '../../storage/contents/contents.ts'
import type { Database, Reader } from '../../storage/engine/database.ts'
import { roomsOf, type RoomName } from '../../storage/files/room-files.ts'
import { IndexDamaged, type Hit, type SearchIndex } from '../../storage/search/search-index.ts'
import {
  liveNodes,
  rowOfKey,
  visibleMessages,
  visibleRows,
  type TreeNode,
} from '../../storage/search/search-sources.ts'
import { roomFolders, TEAMCHAT } from '../files/files.ts'
import { makeIndexer } from './indexer.ts'
import { snippetOf } from './snippet.ts'
import { narrowingGroups, termsOfQuery } from './search-terms.ts'

interface Parts {
  database: Database
  /** The database without the caller's authority check. */
  unattended: Database
  contents: Pick<Contents, 'read'>
  index: SearchIndex
  epoch: string
}

export interface SearchRequest {
  query: string
  kinds?: readonly SearchKind[] | undefined
  limit?: number | undefined
  cursor?: string | undefined
}

export interface Found {
  results: SearchResult[]
  next: string | null
  /** False while the index is being built: something may be missing. */
  complete: boolean
}

const PAGE = { default: 20, max: 100 }
/** Times that a page is filled up when the index has documents that the caller cannot see any more. */
const ROUNDS = 5

const tableOf: Record<SearchKind, string> = {
  file: 'nodes',
  folder: 'nodes',
  message: 'messages',
  note: 'svc_notes',
  doc: 'svc_docs',
  event: 'svc_events',
  contact: 'svc_contacts',
  task: 'svc_tasks',
  place: 'svc_places',
  bookmark: 'svc_bookmarks',
}
const kindOf = new Map(Object.entries(tableOf).map(([kind, table]) => [table, kind as SearchKind]))

/** The caller, and the rooms that they are in. */
interface Viewer {
  user: number
  rooms: RoomName[]
}

/** Reads the documents of hits that the caller may see. Whatever the index says, the rows decide. */
async function visible(at: Reader, viewer: Viewer, hits: readonly Hit[], query: string): Promise<SearchResult[]> {
  const { user } = viewer
  const results = new Map<number, SearchResult>()
  const rows = hits.map((hit) => ({ ...rowOfKey(hit.key), key: hit.key }))
  for (const table of new Set(rows.map((one) => one.table))) {
    const keys = new Map(rows.filter((one) => one.table === table).map(({ row, key }) => [row, key]))
    const ids = [...keys.keys()]
    const add = (row: number, result: SearchResult) => void results.set(keys.get(row)!, result)
    if (table === 'nodes') for (const file of await visibleFiles(at, viewer, ids)) add(file.id, file)
    else if (table === 'messages')
      for (const { row, room_id, room, other, author, text, time } of await visibleMessages(at, user, ids))
        add(row, {
          kind: 'message',
          id: row,
          title: `${author} · ${other ?? room}`,
          snippet: snippetOf(text, query),
          path: null,
          room_id,
          time: iso(time),
        })
    else
      for (const { row, title, text, time } of await visibleRows(at, user, table, ids))
        add(row, {
          kind: kindOf.get(table)!,
          id: row,
          title,
          snippet: snippetOf(text, query),
          path: null,
          room_id: null,
          time: String(time),
        })
  }
  return hits.flatMap(({ key }) => results.get(key) ?? [])
}

/** Files and folders with their paths; without those in deleted folders, and those of rooms that the caller is not in. */
async function visibleFiles(at: Reader, { user, rooms }: Viewer, ids: readonly number[]): Promise<SearchResult[]> {
  const nodes = new Map<number, TreeNode>()
  for (let missing = [...ids]; missing.length > 0;) {
    const found = await liveNodes(at, missing)
    for (const node of found) nodes.set(node.id, node)
    missing = [...new Set(found.flatMap(({ parent_id }) => parent_id ?? []))].filter((id) => !nodes.has(id))
  }
  const folders = new Map(roomFolders(rooms).map((folder) => [folder.id, folder.name]))
  function pathOf({ room_id, user_id, parent_id, name }: TreeNode): string | undefined {
    if (parent_id === null) {
      if (room_id === null) return user_id === user ? '' : undefined
      const folder = folders.get(room_id)
      return folder === undefined ? undefined : `/${TEAMCHAT}/${folder}`
    }
    const parent = nodes.get(parent_id)
    const above = parent && pathOf(parent)
    return above === undefined ? undefined : `${above}/${name}`
  }
  return ids.flatMap((id): SearchResult[] => {
    const node = nodes.get(id)
    const path = node && pathOf(node)
    if (path === undefined || node?.parent_id === null) return []
    const kind = node!.type === 'file' ? 'file' : 'folder'
    const { name: title, room_id, updated_at } = node!
    return [{ kind, id, title, snippet: '', path, room_id, time: iso(updated_at) }]
  })
}

/** Finds files, messages and rows of the caller by the words in them. */
export function makeSearch({ database, unattended, contents, index, epoch }: Parts) {
  const indexer = makeIndexer({ database: unattended, contents, index, epoch })

  async function find(
    user: number,
    { query, kinds, limit = PAGE.default, cursor = '0:' }: SearchRequest,
  ): Promise<Omit<Found, 'complete'>> {
    const terms = termsOfQuery(query)
    const position = /^([01]):(\d{0,15})$/.exec(cursor)
    if (!position) throw badRequest('cursor', 'must be the value of "next" of an answer')
    if (!terms) return { results: [], next: null }
    const most = Math.min(limit, PAGE.max)
    return database.snapshot(async (at) => {
      const rooms = await roomsOf(at, user)
      const scopes = [user, ...rooms.map(({ id }) => -id)]
      const narrowing = narrowingGroups(scopes, kinds && [...new Set(kinds.map((kind) => tableOf[kind]))])
      const results: SearchResult[] = []
      let [tier, before] = [Number(position[1]), position[2] === '' ? undefined : Number(position[2])]
      for (let round = 0; round < ROUNDS; round += 1) {
        const [all, not] = tier === 0 ? [terms.title, undefined] : [terms.anywhere, terms.title]
        const wanted = most - results.length
        const hits = await index.find({ all: [...narrowing, ...all], not, scopes, before, limit: wanted })
        const shown = await visible(at, { user, rooms }, hits, query)
        results.push(...shown.filter(({ kind }) => !kinds || kinds.includes(kind)))
        if (hits.length === wanted) before = hits.at(-1)!.id
        else if (tier === 0) [tier, before] = [1, undefined]
        else return { results, next: null }
        if (results.length >= most) break
      }
      return { results, next: `${tier}:${before ?? ''}` }
    })
  }

  return {
    async find(user: number, request: SearchRequest): Promise<Found> {
      try {
        // Both are read whatever the query is, so that a damaged index is noticed.
        return { ...(await find(user, request)), complete: await indexer.isComplete() }
      } catch (error) {
        if (!(error instanceof IndexDamaged)) throw error
        indexer.noteDamage()
        return { results: [], next: null, complete: false }
      }
    },
    start: indexer.start,
    close: indexer.close,
  }
}

export type Search = ReturnType<typeof makeSearch>
