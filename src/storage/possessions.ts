import { sql, type ExpressionBuilder } from 'kysely'
import type { Reader } from './database.ts'
import type { Tables } from './tables.ts'

/** What belongs to an account and goes with it. */
export interface Possessions {
  files: number
  folders: number
  /** Of the own files. */
  bytes: number
  /** Things in the trash. */
  trash: number
  /** Rows of the synchronised tables. */
  rows: number
  messages: number
  /** Files in chat rooms that others are in too, and their bytes. */
  room_files: number
  room_bytes: number
  /** Chat rooms the account belongs to, and how many of them nobody else is in. */
  rooms: number
  rooms_alone: number
  /** Conversations with the assistant. */
  conversations: number
  devices: number
  sessions: number
}

/** Counts what belongs to an account; `tables` are the synchronised ones. */
export async function possessionsOf(on: Reader, user: number, tables: readonly string[]): Promise<Possessions> {
  const nodes = await on.q
    .selectFrom('nodes')
    .select(({ fn }) => ['type', 'room_id', fn.countAll().as('count'), fn.sum('size').as('bytes')])
    .where('user_id', '=', user)
    .where('trash_id', 'is', null)
    .where((eb) => eb.or([eb('parent_id', 'is not', null), eb('room_id', 'is not', null)]))
    .groupBy(['type', 'room_id'])
    .execute()
  const alone = await roomsAlone(on, user)
  const sum = (rows: typeof nodes, of: 'count' | 'bytes') => rows.reduce((total, row) => total + Number(row[of]), 0)
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

/** Rooms that would be left without members. */
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
