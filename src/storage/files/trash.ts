import { sql } from 'kysely'
import type { Reader, Writer } from '../engine/database.ts'
import type { Node } from './nodes.ts'
import type { TrashState } from '../engine/tables.ts'

// The trash: an entry for each deleted item, whose ID marks every node that was deleted with it. The nodes keep their
// parents, so that an entry can be restored as a whole.

/** Bytes by the account they count for. */
export type Bytes = ReadonlyMap<number, number>

async function contentOf(on: Reader, entry: number): Promise<{ nodes: number; bytes: Bytes }> {
  const rows = await on.q
    .selectFrom('nodes')
    .select(({ fn }) => ['user_id', fn.countAll().as('nodes'), fn.sum('size').as('bytes')])
    .where('trash_id', '=', entry)
    .groupBy('user_id')
    .execute()
  return {
    nodes: rows.reduce((sum, { nodes }) => sum + Number(nodes), 0),
    bytes: new Map(rows.map(({ user_id, bytes }) => [user_id, Number(bytes)])),
  }
}

/** `path` is the node's path. Returns the entry, the number of nodes, and their bytes. */
export async function trashNode(
  tx: Writer,
  node: Pick<Node, 'id'>,
  { user, path }: { user: number; path: string },
  now: number,
): Promise<{ entry: number; nodes: number; bytes: Bytes }> {
  const { id: entry } = await tx.q
    .insertInto('trash')
    .values({ user_id: user, node_id: node.id, path, deleted_at: now })
    .returning('id')
    .executeTakeFirstOrThrow()
  await sql`with recursive below (id) as (
      select id from nodes where id = ${node.id} union all
      select n.id from nodes n join below b on n.parent_id = b.id where n.trash_id is null
    ) update nodes set trash_id = ${entry} where id in (select id from below)`.execute(tx.q)
  return { entry, ...(await contentOf(tx, entry)) }
}

/** Records the tombstones of a trash entry's nodes in the feed, at the positions up to `head`. */
export const recordTrashed = (tx: Writer, user: number, entry: number, head: number, count: number, now: number) =>
  sql`insert into changes (user_id, tbl, row_id, seq, born, deleted, changed_at)
    select ${user}, 'svc_files', id, ${head - count} + row_number() over (order by id desc), 0, 1, ${now}
    from nodes where trash_id = ${entry}
    on conflict (user_id, tbl, row_id) do update
    set seq = excluded.seq, deleted = 1, changed_at = excluded.changed_at`.execute(tx.q)

export interface Entry {
  id: number
  node_id: number
  path: string
  deleted_at: number
  state: TrashState
  room_id: number | null
  name: string
  type: 'file' | 'directory'
}

/** Entries of an account's trash, without those of rooms it has left, and those being removed or restored. */
const entriesOf = (on: Reader, user: number) =>
  on.q
    .selectFrom('trash as t')
    .innerJoin('nodes as n', 'n.id', 't.node_id')
    .select(['t.id', 't.node_id', 't.path', 't.deleted_at', 't.state', 'n.room_id', 'n.name', 'n.type'])
    .where('t.user_id', '=', user)
    .where('t.state', 'in', ['kept', 'marking'])
    .where(({ or, eb, exists, selectFrom }) =>
      or([
        eb('n.room_id', 'is', null),
        exists(
          selectFrom('room_members as m')
            .select('m.user_id')
            .whereRef('m.room_id', '=', 'n.room_id')
            .where('m.user_id', '=', user),
        ),
      ]),
    )

/** An account's trash, newest first, with sizes in bytes. */
export async function trashOf(on: Reader, user: number): Promise<(Entry & { size: number; sha256: string | null })[]> {
  const rows = await entriesOf(on, user)
    .select('n.sha256')
    .select(({ selectFrom }) =>
      selectFrom('nodes as all')
        .select(({ fn }) => fn.sum('all.size').as('size'))
        .whereRef('all.trash_id', '=', 't.id')
        .as('size'),
    )
    .orderBy('t.deleted_at', 'desc')
    .orderBy('t.id', 'desc')
    .execute()
  return rows.map((row) => ({ ...row, size: Number(row.size) }))
}

export const entryOf = (on: Reader, user: number, id: number): Promise<Entry | undefined> =>
  entriesOf(on, user).where('t.id', '=', id).executeTakeFirst()

/** Restores the nodes of a trash entry at another place. Returns their number and bytes. */
export async function reviveEntry(
  tx: Writer,
  { id, node_id }: Pick<Entry, 'id' | 'node_id'>,
  to: { parent_id: number; name: string; name_key: string },
  now: number,
): Promise<{ nodes: number; bytes: Bytes }> {
  const content = await contentOf(tx, id)
  // Move it while the mark still hides it: the name may be taken at the old place.
  await tx.q
    .updateTable('nodes')
    .set({ ...to, updated_at: now, version: sql`version + 1` })
    .where('id', '=', node_id)
    .execute()
  await tx.q.updateTable('nodes').set({ trash_id: null }).where('trash_id', '=', id).execute()
  await tx.q.deleteFrom('trash').where('id', '=', id).execute()
  return content
}

const DOOMED = 100

/** Marks the next entries of an account's trash for removal; returns their number. */
export async function markTrashForRemoval(tx: Writer, user: number, now: number): Promise<number> {
  const entries = await entriesOf(tx, user).orderBy('t.id').limit(DOOMED).execute()
  const ids = entries.map(({ id }) => id)
  await markEntries(tx, ids, now)
  return ids.length
}

export async function markOldTrashForRemoval(tx: Writer, before: number, now: number, limit: number): Promise<number> {
  const entries = await tx.q
    .selectFrom('trash')
    .select('id')
    .where('deleted_at', '<', before)
    .where('state', '=', 'kept')
    .limit(limit)
    .execute()
  await markEntries(
    tx,
    entries.map(({ id }) => id),
    now,
  )
  return entries.length
}

/** Includes entries in rooms it has left, and unfinished copies. Returns whether any exist or are being processed. */
export async function markAllForRemoval(tx: Writer, user: number, now: number): Promise<boolean> {
  const entries = await tx.q
    .selectFrom('trash')
    .select(['id', 'state'])
    .where('user_id', '=', user)
    .limit(DOOMED)
    .execute()
  const ids = entries.filter(({ state }) => state === 'kept' || state === 'staging').map(({ id }) => id)
  if (ids.length > 0)
    await tx.q.updateTable('trash').set({ state: 'dropping', proceeded_at: now }).where('id', 'in', ids).execute()
  return entries.length > 0
}

async function markEntries(tx: Writer, ids: readonly number[], now: number): Promise<void> {
  if (ids.length === 0) return
  await tx.q
    .updateTable('trash')
    .set({ state: 'dropping', proceeded_at: now })
    .where('id', 'in', ids)
    .where('state', '=', 'kept')
    .execute()
}

/** Number and bytes of a trash entry's nodes. */
export const sizeOf = contentOf

/** Restores the top of a trash entry, without the nodes below it. */
export const unmarkTop = (tx: Writer, node: number) =>
  tx.q.updateTable('nodes').set({ trash_id: null }).where('id', '=', node).execute()

/** Deletes some versions older than `before`; returns their number. */
export async function forgetVersions(tx: Writer, before: number, limit: number): Promise<number> {
  const some = tx.q.selectFrom('versions').select('id').where('replaced_at', '<', before).limit(limit)
  const gone = await tx.q.deleteFrom('versions').where('id', 'in', some).returning('id').execute()
  return gone.length
}
