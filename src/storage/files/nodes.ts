import { sql } from 'kysely'
import { first, prepared, type Reader, type Writer } from '../engine/database.ts'
import type { NodeRow } from '../engine/tables.ts'

// The file tree: one row per file or folder. Children refer to their folder by `parent_id`, so renaming a folder
// changes one row.

export interface Node {
  id: number
  user_id: number
  room_id: number | null
  parent_id: number | null
  name: string
  name_key: string
  type: NodeRow['type']
  sha256: string | null
  size: number
  mtime: number
  version: number
  updated_at: number
}

export const nodeColumns = [
  'id',
  'user_id',
  'room_id',
  'parent_id',
  'name',
  'name_key',
  'type',
  'sha256',
  'size',
  'mtime',
  'version',
  'updated_at',
] as const

const rootQuery = prepared<{ user: number }, { id: number }>(({ q, p }) =>
  q
    .selectFrom('nodes')
    .select('id')
    .where('user_id', '=', p.user)
    .where('parent_id', 'is', null)
    .where('room_id', 'is', null),
)

const childQuery = prepared<{ parent: number; key: string }, Node>(({ q, p }) =>
  q
    .selectFrom('nodes')
    .select(nodeColumns)
    .where('parent_id', '=', p.parent)
    .where('name_key', '=', p.key)
    .where('trash_id', 'is', null),
)

const anyChildQuery = prepared<{ parent: number }, { id: number }>(({ q, p }) =>
  q.selectFrom('nodes').select('id').where('parent_id', '=', p.parent).where('trash_id', 'is', null).limit(1),
)

export type NewNode = Pick<
  Node,
  'user_id' | 'room_id' | 'parent_id' | 'name' | 'name_key' | 'type' | 'sha256' | 'size' | 'mtime'
> & {
  /** The trash entry of a deleted node; null for a live one. */
  trash_id: number | null
}

const insertQuery = prepared<{ [column in keyof NewNode]: NewNode[column] } & { now: number }, { id: number }>(
  ({ q, p }) =>
    q
      .insertInto('nodes')
      .values({
        user_id: p.user_id,
        parent_id: p.parent_id,
        name: p.name,
        name_key: p.name_key,
        type: p.type,
        sha256: p.sha256,
        size: p.size,
        mtime: p.mtime,
        version: 1,
        created_at: p.now,
        updated_at: p.now,
        room_id: p.room_id,
        trash_id: p.trash_id,
      })
      .returning('id'),
)

const replaceQuery = prepared<{ [column in keyof Replacement]: Replacement[column] } & { now: number }, never>(
  ({ q, p }) =>
    q
      .updateTable('nodes')
      .set({
        user_id: p.user_id,
        sha256: p.sha256,
        size: p.size,
        mtime: p.mtime,
        updated_at: p.now,
        version: sql`version + 1`,
      })
      .where('id', '=', p.id),
)

const keepVersionQuery = prepared<{ id: number; now: number }, never>(({ q, p }) =>
  q
    .insertInto('versions')
    .columns(['node_id', 'user_id', 'sha256', 'size', 'mtime', 'version', 'replaced_at'])
    .expression(
      q
        .selectFrom('nodes')
        .select([
          'id',
          'user_id',
          sql<string>`sha256`.as('sha256'),
          'size',
          'mtime',
          'version',
          sql<number>`${p.now}`.as('now'),
        ])
        .where('id', '=', p.id),
    ),
)

const quotaQuery = prepared<{ user: number }, { quota_bytes: number | null }>(({ q, p }) =>
  q.selectFrom('users').select('quota_bytes').where('id', '=', p.user),
)

/** The account's own quota in bytes; -1 for unlimited, null for the default. */
export const ownQuota = async (on: Reader, user: number): Promise<number | null> =>
  (await first(quotaQuery(on, { user })))?.quota_bytes ?? null

export async function rootOf(on: Reader, user: number): Promise<number> {
  const row = await first(rootQuery(on, { user }))
  if (!row) throw new Error(`Account ${user} has no root folder.`)
  return row.id
}

/** mtime of a folder, in seconds. */
export const mtimeOf = async (on: Reader, node: number): Promise<number> =>
  (await on.q.selectFrom('nodes').select('mtime').where('id', '=', node).executeTakeFirstOrThrow()).mtime

/** The live entry of a folder with this `name_key`. */
export const childOf = (on: Reader, parent: number, key: string): Promise<Node | undefined> =>
  first(childQuery(on, { parent, key }))

export type Entry = Pick<Node, 'id' | 'name' | 'type' | 'sha256' | 'size' | 'mtime'>

type PartOf = { parent: number; after: string; limit: number }

const entriesQuery = prepared<PartOf, Entry & { name_key: string }>(({ q, p }) =>
  q
    .selectFrom('nodes')
    .select(['id', 'name', 'name_key', 'type', 'sha256', 'size', 'mtime'])
    .where('parent_id', '=', p.parent)
    // Written as in the index, which excludes the trash without reading its rows.
    .where(sql`coalesce(trash_id, 0)`, '=', 0)
    .where('name_key', '>', p.after)
    .orderBy('name_key')
    .limit(p.limit),
)

/** The next live entries of a folder by `name_key`; continue after the key of the last. */
export const entriesAfter = (on: Reader, part: PartOf): Promise<(Entry & { name_key: string })[]> =>
  entriesQuery(on, part)

/** A node in an archive. */
export type NodeSummary = Pick<Node, 'id' | 'parent_id' | 'name' | 'name_key' | 'sha256' | 'size' | 'mtime'>

/** The next live entries of several folders, by folder and name; optionally after one of them. */
export const entriesOfAll = (
  on: Reader,
  parents: readonly number[],
  limit: number,
  after?: Pick<NodeSummary, 'parent_id' | 'name_key'>,
): Promise<NodeSummary[]> =>
  on.q
    .selectFrom('nodes')
    .select(['id', 'parent_id', 'name', 'name_key', 'sha256', 'size', 'mtime'])
    .where('parent_id', 'in', parents)
    // The range makes Postgres scan the index in order even if it expects many entries.
    .where('parent_id', '>=', Math.min(...parents))
    .where('parent_id', '<=', Math.max(...parents))
    .where('trash_id', 'is', null)
    .$if(after !== undefined, (query) =>
      query.where(sql<boolean>`(parent_id, name_key) > (${after!.parent_id}, ${after!.name_key})`),
    )
    .orderBy('parent_id')
    .orderBy('name_key')
    .limit(limit)
    .execute()

export const hasChildren = async (on: Reader, parent: number): Promise<boolean> =>
  (await anyChildQuery(on, { parent })).length > 0

export async function insertNode(
  tx: Writer,
  node: Omit<NewNode, 'trash_id'> & Partial<Pick<NewNode, 'trash_id'>>,
  now: number,
): Promise<number> {
  return (await first(insertQuery(tx, { trash_id: null, ...node, now })))!.id
}

/** The new content and time of a file, and the account it counts for. */
export interface Replacement {
  id: number
  user_id: number
  sha256: string
  size: number
  mtime: number
}

/** Replaces the content or time of a file; with `keep` the previous content becomes a version. */
export async function replaceFile(tx: Writer, node: Replacement, keep: boolean, now: number): Promise<void> {
  if (keep) await keepVersionQuery(tx, { id: node.id, now })
  await replaceQuery(tx, { ...node, now })
}

/** Moves or renames a node; nodes below it need no change. */
export const moveNode = (
  tx: Writer,
  id: number,
  to: { parent_id: number; name: string; name_key: string },
  now: number,
) =>
  tx.q
    .updateTable('nodes')
    .set({ ...to, updated_at: now, version: sql`version + 1` })
    .where('id', '=', id)
    .execute()

/** Whether a tree, live or of a trash entry, has more than `most` nodes. Reads no more than necessary. */
export async function isLarger(on: Reader, node: number, most: number, entry = 0): Promise<boolean> {
  const { rows } = await sql<{ count: number }>`with recursive below (id) as (
      select id from nodes where id = ${node} union all
      select n.id from nodes n join below b on n.parent_id = b.id
      where coalesce(n.trash_id, 0) = ${entry}
    ) select count(*) as count from (select id from below limit ${most + 1}) as counted`.execute(on.q)
  return Number(rows[0]!.count) > most
}

/** Depth of a tree below its top: levels, and bytes of the longest path including its slashes. */
export interface Extent {
  depth: number
  bytes: number
}

/** The extent of a live tree, or of a trash entry. */
export async function extentOf(on: Reader, node: number, entry: number | null = null): Promise<Extent> {
  const { rows } = await sql<Extent>`with recursive below (id, depth, bytes) as (
      select id, 0, 0 from nodes where id = ${node} union all
      select n.id, b.depth + 1, b.bytes + 1 + octet_length(n.name) from nodes n join below b on n.parent_id = b.id
      where coalesce(n.trash_id, 0) = ${entry ?? 0}
    ) select max(depth) as depth, max(bytes) as bytes from below`.execute(on.q)
  return { depth: Number(rows[0]!.depth), bytes: Number(rows[0]!.bytes) }
}

/** A node and everything live below it, folders before their contents, at most `limit`. */
export async function subtreeOf(on: Reader, node: number, limit: number): Promise<Node[]> {
  const { rows } = await sql<Node>`with recursive below (id, depth) as (
      select id, 0 from nodes where id = ${node} union all
      select n.id, b.depth + 1 from nodes n join below b on n.parent_id = b.id where n.trash_id is null
    ) select ${sql.join(nodeColumns.map((column) => sql.ref(`n.${column}`)))}
      from below b join nodes n on n.id = b.id order by b.depth, n.id limit ${limit}`.execute(on.q)
  return rows
}

/**
 * Records a node and everything live below it in the feed, folders before their contents, at the `count` positions up
 * to `head`. Restored nodes get a new `born`: clients that saw their tombstones need the INSERT.
 */
export const recordSubtree = (tx: Writer, user: number, node: number, head: number, count: number, now: number) =>
  sql`with recursive below (id, depth) as (
      select id, 0 from nodes where id = ${node} union all
      select n.id, b.depth + 1 from nodes n join below b on n.parent_id = b.id where n.trash_id is null
    ), placed (id, seq) as (select id, ${head - count} + row_number() over (order by depth, id) from below)
    insert into changes (user_id, tbl, row_id, seq, born, deleted, changed_at)
    select ${user}, 'svc_files', id, seq, seq, 0, ${now} from placed where true
    on conflict (user_id, tbl, row_id) do update
    set seq = excluded.seq, deleted = 0, changed_at = excluded.changed_at,
      born = case when changes.deleted = 1 then excluded.born else changes.born end`.execute(tx.q)

/** Every live folder of an account, for building paths. */
export const foldersOf = (on: Reader, user: number) =>
  on.q
    .selectFrom('nodes')
    .select(['id', 'parent_id', 'name'])
    .where('user_id', '=', user)
    .where('type', '=', 'directory')
    .where('room_id', 'is', null)
    .where('trash_id', 'is', null)
    .execute()

export interface ManifestRow {
  id: number
  parent_id: number
  name: string
  size: number
  sha256: string
  mtime: number
}

const filesAfterQuery = prepared<{ user: number; after: number; limit: number }, ManifestRow>(({ q, p }) =>
  q
    .selectFrom('nodes')
    .select(['id', sql<number>`parent_id`.as('parent_id'), 'name', 'size', sql<string>`sha256`.as('sha256'), 'mtime'])
    .where('user_id', '=', p.user)
    .where('type', '=', 'file')
    .where('id', '>', p.after)
    .where('room_id', 'is', null)
    .where('trash_id', 'is', null)
    .orderBy('id')
    .limit(p.limit),
)

/** The next live files of an account by ID. */
export const filesAfter = (on: Reader, user: number, after: number, limit: number): Promise<ManifestRow[]> =>
  filesAfterQuery(on, { user, after, limit })
