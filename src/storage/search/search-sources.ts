import { sql } from 'kysely'
import type { Reader } from '../engine/database.ts'

// What can be found, and where its title and text are.

interface Source {
  table: string
  title: string | undefined
  texts: readonly string[]
}

/** Append only: the position is part of the keys of the index. */
const sources: readonly Source[] = [
  { table: 'nodes', title: 'name', texts: [] },
  { table: 'messages', title: undefined, texts: ['content'] },
  { table: 'svc_notes', title: 'title', texts: ['content', 'category'] },
  { table: 'svc_docs', title: 'title', texts: ['content', 'folder', 'tags'] },
  { table: 'svc_events', title: 'title', texts: ['note', 'location'] },
  {
    table: 'svc_contacts',
    title: 'name',
    texts: ['email', 'phone', 'company', 'note', 'other_emails', 'other_phones'],
  },
  { table: 'svc_tasks', title: 'title', texts: ['note'] },
  { table: 'svc_places', title: 'name', texts: ['address', 'category', 'note'] },
  { table: 'svc_bookmarks', title: 'title', texts: ['url', 'note', 'folder'] },
]

export const searchedTables: readonly string[] = sources.map(({ table }) => table)

const KINDS = 64

/** Table and row as one number. */
export const searchKey = (table: string, row: number): number => row * KINDS + searchedTables.indexOf(table)
export const rowOfKey = (key: number): { table: string; row: number } => ({
  table: searchedTables[key % KINDS]!,
  row: Math.floor(key / KINDS),
})

/** Characters of a text that are indexed, and that are read for the snippet of a result. */
const INDEXED = 1_000_000
const SNIPPET_SOURCE = 20_000

/** A row as it is indexed. */
export interface SearchSource {
  row: number
  /** The ID of an account, or the negative ID of a room. */
  scope: number
  title: string
  text: string
  /** The content of a file. */
  sha256: string | null
  size: number
}

const columnsOf = ({ title, texts }: Source, characters: number) => sql`
  ${title === undefined ? sql`''` : sql`coalesce(${sql.ref(title)}, '')`} as title,
  ${
    texts.length === 0
      ? sql`''`
      : sql`substr(${sql.join(
          texts.map((text) => sql`coalesce(${sql.ref(text)}, '')`),
          sql` || ' ' || `,
        )}, 1, ${sql.lit(characters)})`
  } as text`

const fixed: Record<string, ReturnType<typeof sql>> = {
  nodes: sql`coalesce(-room_id, user_id) as scope, sha256, size`,
  messages: sql`-room_id as scope, null as sha256, 0 as size`,
}
const ownRow = sql`user_id as scope, null as sha256, 0 as size`

/** Rows of a table as they are indexed: those with these IDs, or the next after one. Without files in the trash. */
export async function searchSources(
  on: Reader,
  table: string,
  rows: { ids: readonly number[] } | { after: number; limit: number },
): Promise<SearchSource[]> {
  const source = sources.find((one) => one.table === table)!
  const wanted = 'ids' in rows ? sql`id in (${sql.join(rows.ids)})` : sql`id > ${rows.after}`
  const live = table === 'nodes' ? sql`and trash_id is null and parent_id is not null` : sql``
  const limit = 'ids' in rows ? sql`` : sql`limit ${rows.limit}`
  const found = await sql<SearchSource>`select id as row, ${fixed[table] ?? ownRow}, ${columnsOf(source, INDEXED)}
    from ${sql.table(table)} where ${wanted} ${live} order by id ${limit}`.execute(on.q)
  return found.rows
}

/** A row that the caller may see. */
export interface VisibleRow {
  row: number
  title: string
  text: string
  /** ISO 8601, or epoch ms. */
  time: string | number
}

/** Rows of the account in a synchronised table. */
export async function visibleRows(on: Reader, user: number, table: string, ids: readonly number[]) {
  const source = sources.find((one) => one.table === table)!
  const time = table === 'svc_events' ? sql`starts_at` : sql`updated_at`
  const { rows } = await sql<VisibleRow>`select id as row, ${time} as time, ${columnsOf(source, SNIPPET_SOURCE)}
    from ${sql.table(table)} where user_id = ${user} and id in (${sql.join(ids)})`.execute(on.q)
  return rows
}

/** Messages in rooms of the account, with the room and the author. */
export const visibleMessages = (on: Reader, user: number, ids: readonly number[]) =>
  on.q
    .selectFrom('messages as m')
    .innerJoin('room_members as mine', 'mine.room_id', 'm.room_id')
    .innerJoin('rooms as r', 'r.id', 'm.room_id')
    .innerJoin('users as u', 'u.id', 'm.user_id')
    .select(['m.id as row', 'm.room_id', 'm.content as text', 'm.timestamp as time', 'u.display_name as author'])
    .select(({ selectFrom }) => [
      'r.name as room',
      // A direct conversation is named after the other person.
      selectFrom('room_members as o')
        .innerJoin('users as p', 'p.id', 'o.user_id')
        .select('p.display_name')
        .whereRef('o.room_id', '=', 'm.room_id')
        .where('o.user_id', '<>', user)
        .where('r.type', '=', 'dm')
        .limit(1)
        .as('other'),
    ])
    .where('mine.user_id', '=', user)
    .where('m.id', 'in', ids)
    .execute()

export interface TreeNode {
  id: number
  parent_id: number | null
  user_id: number
  room_id: number | null
  name: string
  type: 'file' | 'directory'
  updated_at: number
}

/** Files and folders that are not in the trash. */
export const liveNodes = (on: Reader, ids: readonly number[]): Promise<TreeNode[]> =>
  on.q
    .selectFrom('nodes')
    .select(['id', 'parent_id', 'user_id', 'room_id', 'name', 'type', 'updated_at'])
    .where('id', 'in', ids)
    .where('trash_id', 'is', null)
    .execute()

/** Those of the scopes whose account or room is gone. */
export async function goneScopes(on: Reader, scopes: readonly number[]): Promise<number[]> {
  const users = await on.q
    .selectFrom('users')
    .innerJoin('counters', 'counters.user_id', 'users.id')
    .select('id')
    .execute()
  const rooms = await on.q.selectFrom('rooms').select('id').execute()
  const known = new Set([...users.map(({ id }) => id), ...rooms.map(({ id }) => -id)])
  return scopes.filter((scope) => !known.has(scope))
}
