import { sql, type RawBuilder } from 'kysely'
import { advance, recordAll } from '../feed/changes.ts'
import type { Reader, Writer } from '../engine/database.ts'
import { countRows, sizeOf, type CountedRows } from '../engine/data-usage.ts'
import { rootOf, type Node } from '../files/nodes.ts'
import type { RemovalRow, Tables } from '../engine/tables.ts'
import { dropVersions } from '../files/tree-slices.ts'

// Removes an account in slices: each step handles some rows and returns their number, 0 when none are left. Every step
// can be repeated.

/** An account being removed, the heir of its files, and whether its messages are kept. */
export type Removal = Pick<RemovalRow, 'user_id' | 'heir_id' | 'keeps_messages'>

/** Records that the removal of an account has begun. */
export const beginRemoval = (tx: Writer, removal: Removal, now: number) =>
  tx.q
    .insertInto('removals')
    .values({ ...removal, begun_at: now })
    .execute()

export const removalOf = (on: Reader, user: number): Promise<Removal | undefined> =>
  on.q
    .selectFrom('removals')
    .select(['user_id', 'heir_id', 'keeps_messages'])
    .where('user_id', '=', user)
    .executeTakeFirst()

/** Accounts being removed, oldest removal first. */
export async function removalsBegun(on: Reader): Promise<number[]> {
  const rows = await on.q.selectFrom('removals').select('user_id').orderBy('begun_at').orderBy('user_id').execute()
  return rows.map(({ user_id }) => user_id)
}

/** Whether an account receives the files of one that is being removed. */
export async function isHeir(on: Reader, user: number): Promise<boolean> {
  const row = await on.q.selectFrom('removals').select('user_id').where('heir_id', '=', user).executeTakeFirst()
  return row !== undefined
}

type Step = (tx: Writer, removal: Removal, limit: number, now: number) => Promise<number>

interface Given {
  id: number
  size: number
  room_id: number | null
  trash_id: number | null
}

/** Gives nodes to the heir: their bytes count for the heir, and own files appear in the heir's feed. */
async function transferNodes(
  tx: Writer,
  { user_id: from, heir_id: to }: Removal,
  some: RawBuilder<unknown>,
  now: number,
): Promise<number> {
  const { rows } = await sql<Given>`update nodes set user_id = ${to} where id in (${some})
    returning id, size, room_id, trash_id`.execute(tx.q)
  const live = rows.filter(({ trash_id }) => trash_id === null).sort((a, b) => a.id - b.id)
  const ownNodes = live.filter(({ room_id }) => room_id === null)
  const bytes = live.reduce((sum, { size }) => sum + size, 0)
  if (live.length > 0) {
    await advance(tx, from, 0, -bytes)
    const { seq } = await advance(tx, to!, ownNodes.length, bytes)
    const changes = ownNodes.map(({ id }) => ({ table: 'svc_files', row: id, deleted: false }))
    await recordAll(tx, to!, seq, now, changes)
  }
  return rows.length
}

/** Folders go before their contents, so that no feed has a node without its folder. */
const transferFolders: Step = (tx, removal, limit, now) =>
  transferNodes(
    tx,
    removal,
    sql`select n.id from nodes n left join nodes p on p.id = n.parent_id
      where n.user_id = ${removal.user_id} and n.type = 'directory' and (n.room_id is not null or p.user_id = ${removal.heir_id})
      order by n.id limit ${limit}`,
    now,
  )

const transferFiles: Step = (tx, removal, limit, now) =>
  transferNodes(
    tx,
    removal,
    sql`select id from nodes where user_id = ${removal.user_id} and type = 'file' order by id limit ${limit}`,
    now,
  )

const transferVersions: Step = async (tx, { user_id, heir_id }, limit) => {
  const some = tx.q.selectFrom('versions').select('id').where('user_id', '=', user_id).limit(limit)
  const given = await tx.q
    .updateTable('versions')
    .set({ user_id: heir_id! })
    .where('id', 'in', some)
    .returning('id')
    .execute()
  return given.length
}

/** Gives the account's folders in rooms to another member: others have files in them. */
const transferRoomFolders: Step = async (tx, { user_id: user }, limit) => {
  const others = sql`select m.room_id from room_members m where m.user_id <> ${user}`
  const { rows } = await sql`update nodes set user_id = (
      select min(m.user_id) from room_members m where m.room_id = nodes.room_id and m.user_id <> ${user}
    ) where id in (
      select id from nodes where user_id = ${user} and type = 'directory' and room_id in (${others}) limit ${limit}
    ) returning id`.execute(tx.q)
  return rows.length
}

/** Subtracts the bytes of live nodes from the accounts they count for. */
async function subtractUsage(tx: Writer, gone: readonly Pick<Node & Given, 'user_id' | 'size' | 'trash_id'>[]) {
  const bytes = new Map<number, number>()
  for (const { user_id, size, trash_id } of gone)
    if (trash_id === null) bytes.set(user_id, (bytes.get(user_id) ?? 0) + size)
  for (const [user, count] of bytes) if (count !== 0) await advance(tx, user, 0, -count)
}

/** Deletes some files with their versions; `which` selects them. */
async function dropFiles(tx: Writer, which: RawBuilder<unknown>, limit: number): Promise<number> {
  const { rows } = await sql<{ id: number }>`select id from nodes where ${which} and type = 'file'
    order by id limit ${limit}`.execute(tx.q)
  if (rows.length === 0) return 0
  const ids = rows.map(({ id }) => id)
  const versions = await dropVersions(tx, ids)
  if (versions > 0) return versions
  const gone = await tx.q
    .deleteFrom('nodes')
    .where('id', 'in', ids)
    .returning(['user_id', 'size', 'trash_id'])
    .execute()
  await subtractUsage(tx, gone)
  return rows.length
}

/** Deletes some empty folders, but no root. */
async function dropFolders(tx: Writer, which: RawBuilder<unknown>, limit: number): Promise<number> {
  const { rows } = await sql`delete from nodes where id in (
      select n.id from nodes n where ${which} and type = 'directory' and parent_id is not null
      and not exists (select 1 from nodes c where c.parent_id = n.id) order by n.id desc limit ${limit}
    ) returning id`.execute(tx.q)
  return rows.length
}

const whichOf = ({ user_id }: Removal) => sql`user_id = ${user_id}`
const dropOwnFiles: Step = (tx, removal, limit) => dropFiles(tx, whichOf(removal), limit)
const dropOwnFolders: Step = (tx, removal, limit) => dropFolders(tx, whichOf(removal), limit)

/** Deletes some messages, files and folders of a room. */
export async function emptyRoom(tx: Writer, room: number, limit: number): Promise<number> {
  const ofRoom = sql`room_id = ${room}`
  return (
    (await deleteSome(tx, { table: 'messages', key: ['id'] }, ofRoom, limit)) ||
    (await deleteSome(tx, { table: 'deleted_messages', key: ['message_id'] }, ofRoom, limit)) ||
    (await dropFiles(tx, ofRoom, limit)) ||
    (await dropFolders(tx, ofRoom, limit))
  )
}

/** A table with rows of accounts. */
interface Owned {
  table: keyof Tables
  key: readonly string[]
  /** For rows that belong to an account through a parent: the referencing column and the parent table. */
  through?: readonly [column: string, table: keyof Tables]
}

/** Tables of which an account can own many rows, beside nodes, messages and synchronised rows; children first. */
const owned: readonly Owned[] = [
  { table: 'versions', key: ['id'] },
  { table: 'reactions', key: ['message_id', 'emoji', 'user_id'] },
  { table: 'assistant_mentions', key: ['message_id'] },
  { table: 'assistant_confirmations', key: ['id'] },
  { table: 'assistant_messages', key: ['id'], through: ['conversation_id', 'assistant_conversations'] },
  { table: 'assistant_conversations', key: ['id'] },
  { table: 'change_set_items', key: ['id'], through: ['change_set_id', 'change_sets'] },
  { table: 'change_sets', key: ['id'] },
  { table: 'profile_components', key: ['profile_id', 'component_id'], through: ['profile_id', 'component_profiles'] },
  { table: 'component_profiles', key: ['id'] },
  { table: 'components', key: ['id'] },
  { table: 'pushed_operations', key: ['user_id', 'op_id'] },
  { table: 'idempotency_keys', key: ['user_id', 'key'] },
  { table: 'seeded', key: ['user_id', 'kind', 'key'] },
  { table: 'usage_history', key: ['user_id', 'day'] },
  { table: 'assistant_usage', key: ['user_id', 'day'] },
  { table: 'changes', key: ['user_id', 'tbl', 'row_id'] },
  // Last, because deleting the others adds rows.
  { table: 'released_contents', key: ['user_id', 'sha256'] },
]

async function deleteSome(
  tx: Writer,
  { table, key }: Pick<Owned, 'table' | 'key'>,
  where: RawBuilder<unknown>,
  limit: number,
): Promise<number> {
  const keys = sql.join(key.map((column) => sql.ref(column)))
  const { rows } = await sql`delete from ${sql.table(table)} where (${keys}) in (
    select ${keys} from ${sql.table(table)} where ${where} limit ${limit}) returning 1 as gone`.execute(tx.q)
  return rows.length
}

const dropOwned =
  ({ through, ...owned }: Owned): Step =>
  (tx, { user_id }, limit) => {
    const where = through
      ? sql`${sql.ref(through[0])} in (select id from ${sql.table(through[1])} where user_id = ${user_id})`
      : sql`user_id = ${user_id}`
    return deleteSome(tx, owned, where, limit)
  }

const dropRows =
  ({ name, texts }: CountedRows): Step =>
  async (tx, { user_id }, limit) => {
    const { rows } = await sql<{ bytes: number }>`delete from ${sql.table(name)} where id in (
      select id from ${sql.table(name)} where user_id = ${user_id} order by id limit ${limit})
      returning ${sizeOf(texts)} as bytes`.execute(tx.q)
    const bytes = rows.reduce((sum, row) => sum + Number(row.bytes), 0)
    if (rows.length > 0) await countRows(tx, user_id, -rows.length, -bytes)
    return rows.length
  }

/** The steps that remove what an account owns outside the chat, in order. */
export const removalSteps = ({ heir_id }: Removal, rows: readonly CountedRows[]): readonly Step[] => [
  ...(heir_id === null
    ? [transferRoomFolders, dropOwnFiles, dropOwnFolders]
    : [transferFolders, transferFiles, transferVersions]),
  ...rows.map(dropRows),
  ...owned.map(dropOwned),
]

/** Moves the tree of one account into another: its root becomes a folder there, and the account gets an empty root. */
export async function moveRoot(
  tx: Writer,
  { from, to }: { from: number; to: number },
  { name, name_key }: { name: string; name_key: string },
  now: number,
): Promise<void> {
  const [root, parent] = [await rootOf(tx, from), await rootOf(tx, to)]
  const times = { mtime: Math.floor(now / 1_000), created_at: now, updated_at: now }
  await tx.q
    .updateTable('nodes')
    .set({ user_id: to, parent_id: parent, name, name_key, ...times })
    .where('id', '=', root)
    .execute()
  const empty = { parent_id: null, name: '', name_key: '', type: 'directory', sha256: null, size: 0 } as const
  await tx.q
    .insertInto('nodes')
    .values({ user_id: from, ...empty, ...times, version: 1, trash_id: null })
    .execute()
  const { seq } = await advance(tx, to, 1)
  await recordAll(tx, to, seq, now, [{ table: 'svc_files', row: root, deleted: false }])
}
