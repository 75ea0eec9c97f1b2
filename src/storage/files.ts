import { sql } from 'kysely'
import { first, prepared, type Reader, type Writer } from './database.ts'
import type { NodeRow } from './tables.ts'

// The file tree: one row a file or folder. Folders know their children only through `parent_id`, so renaming one is one row.

export interface Node {
  id: number
  user_id: number
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

const childrenQuery = prepared<{ parent: number }, Node>(({ q, p }) =>
  q.selectFrom('nodes').select(shown).where('parent_id', '=', p.parent).where('trash_id', 'is', null),
)

const anyChildQuery = prepared<{ parent: number }, { id: number }>(({ q, p }) =>
  q.selectFrom('nodes').select('id').where('parent_id', '=', p.parent).where('trash_id', 'is', null).limit(1),
)

type NewNode = Pick<Node, 'user_id' | 'parent_id' | 'name' | 'name_key' | 'type' | 'sha256' | 'size' | 'mtime'>

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
        room_id: null,
        trash_id: null,
      })
      .returning('id'),
)

const replaceQuery = prepared<{ id: number; sha256: string; size: number; mtime: number; now: number }, never>(
  ({ q, p }) =>
    q
      .updateTable('nodes')
      .set({ sha256: p.sha256, size: p.size, mtime: p.mtime, updated_at: p.now, version: sql`version + 1` })
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

export const childOf = (on: Reader, parent: number, key: string): Promise<Node | undefined> =>
  first(childQuery(on, { parent, key }))

/** The live entries of a folder, in no order. */
export const childrenOf = (on: Reader, parent: number): Promise<Node[]> => childrenQuery(on, { parent })

export const hasChildren = async (on: Reader, parent: number): Promise<boolean> =>
  (await anyChildQuery(on, { parent })).length > 0

export async function insertNode(tx: Writer, node: NewNode, now: number): Promise<number> {
  return (await first(insertQuery(tx, { ...node, now })))!.id
}

/** Gives a file another content or time; with `keep` the content before stays restorable as a version. */
export async function replaceFile(
  tx: Writer,
  node: { id: number; sha256: string; size: number; mtime: number },
  keep: boolean,
  now: number,
): Promise<void> {
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

const reachQuery = prepared<{ id: number }, { depth: number; bytes: number }>(({ q, p }) => ({
  compile: () =>
    sql<{ depth: number; bytes: number }>`with recursive below (id, depth, bytes) as (
        select cast(${p.id} as integer), 0, 0 union all
        select n.id, b.depth + 1, b.bytes + 1 + octet_length(n.name)
        from nodes n join below b on n.parent_id = b.id where n.trash_id is null
      ) select max(depth) as depth, max(bytes) as bytes from below`.compile(q),
}))

/** How far the live contents of a folder reach: levels below it, and bytes of the longest path from it. */
export const reachOf = async (on: Reader, id: number): Promise<{ depth: number; bytes: number }> =>
  (await first(reachQuery(on, { id })))!

/**
 * Puts a file or folder with everything below it into the trash. Returns the entry, how many nodes went, and their
 * bytes; the nodes keep their places below each other, so that the entry can be restored whole.
 */
export async function trashNode(
  tx: Writer,
  node: Pick<Node, 'id' | 'user_id'>,
  path: string,
  now: number,
): Promise<{ entry: number; nodes: number; bytes: number }> {
  const { id: entry } = await tx.q
    .insertInto('trash')
    .values({ user_id: node.user_id, node_id: node.id, path, deleted_at: now })
    .returning('id')
    .executeTakeFirstOrThrow()
  await sql`with recursive below (id) as (
      select ${node.id} union all
      select n.id from nodes n join below b on n.parent_id = b.id where n.trash_id is null
    ) update nodes set trash_id = ${entry} where id in (select id from below)`.execute(tx.q)
  const { nodes, bytes } = await tx.q
    .selectFrom('nodes')
    .select(({ fn }) => [fn.countAll().as('nodes'), fn.sum('size').as('bytes')])
    .where('trash_id', '=', entry)
    .executeTakeFirstOrThrow()
  return { entry, nodes: Number(nodes), bytes: Number(bytes) }
}

/** Writes the end of every node of a trash entry into the feed, at the positions up to `head`. */
export const recordTrashed = (tx: Writer, user: number, entry: number, head: number, count: number, now: number) =>
  sql`insert into changes (user_id, tbl, row_id, seq, born, deleted, changed_at)
    select ${user}, 'svc_files', id, ${head - count} + row_number() over (order by id desc), 0, 1, ${now}
    from nodes where trash_id = ${entry}
    on conflict (user_id, tbl, row_id) do update
    set seq = excluded.seq, deleted = 1, changed_at = excluded.changed_at`.execute(tx.q)

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

/** Removes trash entries and versions older than `before` for good. Returns how many of each. */
export async function purge(tx: Writer, before: number): Promise<{ trash: number; versions: number }> {
  const trash = await tx.q
    .deleteFrom('nodes')
    .where('id', 'in', tx.q.selectFrom('trash').select('node_id').where('deleted_at', '<', before))
    .returning('id')
    .execute()
  const versions = await tx.q.deleteFrom('versions').where('replaced_at', '<', before).returning('id').execute()
  return { trash: trash.length, versions: versions.length }
}
