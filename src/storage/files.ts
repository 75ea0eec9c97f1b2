import { sql } from 'kysely'
import { first, prepared, type Reader, type Writer } from './database.ts'
import type { NodeRow } from './tables.ts'

// The file tree: one row a file or folder. Folders know their children only through `parent_id`, so renaming one is one row.

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

const shown = [
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
    .select(shown)
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
>

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
        trash_id: null,
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

/** The account's own quota in bytes, -1 for unlimited; null where the default holds. */
export const ownQuota = async (on: Reader, user: number): Promise<number | null> =>
  (await first(quotaQuery(on, { user })))?.quota_bytes ?? null

/** The id of the account's root folder. */
export async function rootOf(on: Reader, user: number): Promise<number> {
  const row = await first(rootQuery(on, { user }))
  if (!row) throw new Error(`Account ${user} has no root folder.`)
  return row.id
}

/** The time of a folder, in seconds. */
export const mtimeOf = async (on: Reader, node: number): Promise<number> =>
  (await on.q.selectFrom('nodes').select('mtime').where('id', '=', node).executeTakeFirstOrThrow()).mtime

export const childOf = (on: Reader, parent: number, key: string): Promise<Node | undefined> =>
  first(childQuery(on, { parent, key }))

/** What a listing shows of an entry. */
export type Entry = Pick<Node, 'id' | 'name' | 'type' | 'size' | 'mtime'>

const entriesQuery = prepared<{ parent: number }, Entry>(({ q, p }) =>
  q
    .selectFrom('nodes')
    .select(['id', 'name', 'type', 'size', 'mtime'])
    .where('parent_id', '=', p.parent)
    .where('trash_id', 'is', null),
)

/** The live entries of a folder as a listing shows them, in no order. */
export const entriesOf = (on: Reader, parent: number): Promise<Entry[]> => entriesQuery(on, { parent })

/** What an archive has to know of a node. */
export type Twig = Pick<Node, 'id' | 'parent_id' | 'name' | 'sha256' | 'size' | 'mtime'>

/** The live entries of some folders, in the order of their names, at most `limit` of them. */
export const entriesOfAll = (on: Reader, parents: readonly number[], limit: number): Promise<Twig[]> =>
  on.q
    .selectFrom('nodes')
    .select(['id', 'parent_id', 'name', 'sha256', 'size', 'mtime'])
    .where('parent_id', 'in', parents)
    .where('trash_id', 'is', null)
    .orderBy('name_key')
    .limit(limit)
    .execute()

export const hasChildren = async (on: Reader, parent: number): Promise<boolean> =>
  (await anyChildQuery(on, { parent })).length > 0

export async function insertNode(tx: Writer, node: NewNode, now: number): Promise<number> {
  return (await first(insertQuery(tx, { ...node, now })))!.id
}

/** What a file becomes: a content, its time, and the account that pays for it. */
export interface Replacement {
  id: number
  user_id: number
  sha256: string
  size: number
  mtime: number
}

/** Gives a file another content or time; with `keep` the content before stays restorable as a version. */
export async function replaceFile(tx: Writer, node: Replacement, keep: boolean, now: number): Promise<void> {
  if (keep) await keepVersionQuery(tx, { id: node.id, now })
  await replaceQuery(tx, { ...node, now })
}

/** Moves or renames a file or folder; everything below comes along by itself. */
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

/** How far a tree reaches below its top: levels, and bytes of the longest path including its slashes. */
export interface Extent {
  depth: number
  bytes: number
}

/** The extent of a folder with everything below it that is live, or of a trash entry. */
export async function extentOf(on: Reader, node: number, entry: number | null = null): Promise<Extent> {
  const { rows } = await sql<Extent>`with recursive below (id, depth, bytes) as (
      select id, 0, 0 from nodes where id = ${node} union all
      select n.id, b.depth + 1, b.bytes + 1 + octet_length(n.name) from nodes n join below b on n.parent_id = b.id
      where coalesce(n.trash_id, 0) = ${entry ?? 0}
    ) select max(depth) as depth, max(bytes) as bytes from below`.execute(on.q)
  return { depth: Number(rows[0]!.depth), bytes: Number(rows[0]!.bytes) }
}

/** A node and everything live below it, folders before what they hold, at most `limit` of them. */
export async function subtreeOf(on: Reader, node: number, limit: number): Promise<Node[]> {
  const { rows } = await sql<Node>`with recursive below (id, depth) as (
      select id, 0 from nodes where id = ${node} union all
      select n.id, b.depth + 1 from nodes n join below b on n.parent_id = b.id where n.trash_id is null
    ) select ${sql.join(shown.map((column) => sql.ref(`n.${column}`)))}
      from below b join nodes n on n.id = b.id order by b.depth, n.id limit ${limit}`.execute(on.q)
  return rows
}

/**
 * Writes a node and everything live below it into the feed, folders before what they hold, at the `count` positions up
 * to `head`. What comes back from the dead is born again: clients that saw its end need the INSERT.
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

/**
 * Puts everything below the root of one account below a folder of another, which owns it from then on with all versions.
 * What is in the trash must be gone before. Returns how many nodes, and their bytes.
 */
export async function giveTree(tx: Writer, from: number, to: number, folder: number) {
  const root = await rootOf(tx, from)
  const { nodes, bytes } = await tx.q
    .selectFrom('nodes')
    .select(({ fn }) => [fn.countAll().as('nodes'), fn.sum('size').as('bytes')])
    .where('user_id', '=', from)
    .where('room_id', 'is', null)
    .where('id', '!=', root)
    .executeTakeFirstOrThrow()
  const own = tx.q.selectFrom('nodes').select('id').where('user_id', '=', from).where('room_id', 'is', null)
  await tx.q.updateTable('versions').set({ user_id: to }).where('node_id', 'in', own).execute()
  await tx.q.updateTable('nodes').set({ parent_id: folder }).where('parent_id', '=', root).execute()
  await tx.q
    .updateTable('nodes')
    .set({ user_id: to })
    .where('user_id', '=', from)
    .where('room_id', 'is', null)
    .where('id', '!=', root)
    .execute()
  return { nodes: Number(nodes), bytes: Number(bytes) }
}

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

/** The next live files of an account by id. */
export const filesAfter = (on: Reader, user: number, after: number, limit: number): Promise<ManifestRow[]> =>
  filesAfterQuery(on, { user, after, limit })
