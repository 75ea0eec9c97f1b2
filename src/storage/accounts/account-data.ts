import { sql, type ExpressionBuilder } from 'kysely'
import type { Reader } from '../engine/database.ts'
import type { Tables } from '../engine/tables.ts'
import { nextTurn } from '../engine/event-loop.ts'

/** What an account owns and loses when it is removed. */
export interface AccountData {
  files: number
  folders: number
  /** Of its own files. */
  bytes: number
  trash: number
  rows: number
  messages: number
  /** Files in chat rooms with other members, and their bytes. */
  room_files: number
  room_bytes: number
  /** Chat rooms of the account, and how many of them have no other member. */
  rooms: number
  rooms_alone: number
  conversations: number
  devices: number
  sessions: number
}

/** Counts the data of an account; `tables` are the synchronised ones. */
export async function accountDataOf(on: Reader, user: number, tables: readonly string[]): Promise<AccountData> {
  const nodes = await nodesOf(on, user)
  const alone = await roomsAlone(on, user)
  const sum = (rows: typeof nodes, of: 'count' | 'bytes') => rows.reduce((total, row) => total + row[of], 0)
  const own = nodes.filter(({ room_id }) => room_id === null)
  const ofType = (type: 'file' | 'directory') => own.filter((row) => row.type === type)
  const shared = nodes.filter(({ type, room_id }) => type === 'file' && room_id !== null && !alone.has(room_id))
  return {
    files: sum(ofType('file'), 'count'),
    folders: sum(ofType('directory'), 'count'),
    bytes: sum(own, 'bytes'),
    trash: await countOf(on, 'trash', user),
    rows: await rowsOf(on, user, tables),
    messages: await countOf(on, 'messages', user),
    room_files: sum(shared, 'count'),
    room_bytes: sum(shared, 'bytes'),
    rooms: await countOf(on, 'room_members', user),
    rooms_alone: alone.size,
    conversations: await countOf(on, 'assistant_conversations', user),
    devices: await countOf(on, 'device_tokens', user),
    sessions: await countOf(on, 'sessions', user),
  }
}

interface Counted {
  type: 'file' | 'directory'
  room_id: number | null
  count: number
  bytes: number
}

/** Nodes counted per statement. */
const PAGE = 5_000

/** Live nodes by type and room, without the root; counted in pages, so that other queries run in between. */
async function nodesOf(on: Reader, user: number): Promise<Counted[]> {
  const counted: Counted[] = []
  for (const type of ['file', 'directory'] as const) {
    for (let after = 0, seen = PAGE; seen === PAGE;) {
      const { rows } = await sql<{ room_id: number | null; live: number; count: number; bytes: number; last: number }>`
        select room_id, live, count(*) as count, sum(size) as bytes, max(id) as last from (
          select id, room_id, size, case when trash_id is null and coalesce(parent_id, room_id) is not null
            then 1 else 0 end as live
          from nodes where user_id = ${user} and type = ${type} and id > ${after} order by id limit ${PAGE}
        ) page group by room_id, live`.execute(on.q)
      seen = 0
      for (const { room_id, live, count, bytes, last } of rows) {
        seen += Number(count)
        after = Math.max(after, Number(last))
        if (live === 1) counted.push({ type, room_id, count: Number(count), bytes: Number(bytes) })
      }
      if (seen === PAGE) await nextTurn()
    }
  }
  return counted
}

/** How many messages of an account stand in rooms with other members. */
export async function sharedMessagesOf(on: Reader, user: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from messages where user_id = ${user}
    and room_id in (select room_id from room_members where user_id <> ${user})`.execute(on.q)
  return Number(rows[0]!.count)
}

async function countOf(
  on: Reader,
  table: 'trash' | 'messages' | 'room_members' | 'assistant_conversations' | 'device_tokens' | 'sessions',
  user: number,
): Promise<number> {
  const { count } = await on.q
    .selectFrom(table)
    .select(({ fn }) => fn.countAll().as('count'))
    .where('user_id', '=', user)
    .executeTakeFirstOrThrow()
  return Number(count)
}

async function rowsOf(on: Reader, user: number, tables: readonly string[]): Promise<number> {
  let rows = 0
  for (const table of tables) {
    const { rows: found } = await sql<{ count: number }>`select count(*) as count from ${sql.table(table)}
      where user_id = ${user}`.execute(on.q)
    rows += Number(found[0]!.count)
  }
  return rows
}

async function roomsAlone(on: Reader, user: number): Promise<Set<number>> {
  const others = (eb: ExpressionBuilder<Tables & { m: Tables['room_members'] }, 'm'>) =>
    eb
      .selectFrom('room_members as o')
      .select('o.user_id')
      .whereRef('o.room_id', '=', 'm.room_id')
      .where('o.user_id', '!=', user)
  const rows = await on.q
    .selectFrom('room_members as m')
    .select('m.room_id')
    .where('m.user_id', '=', user)
    .where(({ not, exists }) => not(exists(others)))
    .execute()
  return new Set(rows.map(({ room_id }) => room_id))
}
