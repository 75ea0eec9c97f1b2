import { sql } from 'kysely'
import { first, prepared, type Reader, type Writer } from '../engine/database.ts'

// Messages in rooms that wait for the assistant's answer, oldest first.

export interface Mention {
  message_id: number
  room_id: number
  user_id: number
  asked_at: number
  tries: number
  /** Until when a server answers it, epoch ms. */
  working_until: number
}

const columns = ['message_id', 'room_id', 'user_id', 'asked_at', 'tries', 'working_until'] as const

export const insertMention = (tx: Writer, mention: Omit<Mention, 'tries' | 'working_until'>) =>
  tx.q.insertInto('assistant_mentions').values(mention).execute()

export async function mentionCount(on: Reader, room: number): Promise<number> {
  const row = await on.q
    .selectFrom('assistant_mentions')
    .select(({ fn }) => fn.countAll().as('count'))
    .where('room_id', '=', room)
    .executeTakeFirst()
  return Number(row?.count ?? 0)
}

export const nextMention = (on: Reader, room: number): Promise<(Mention & { content: string }) | undefined> =>
  on.q
    .selectFrom('assistant_mentions')
    .innerJoin('messages', 'messages.id', 'assistant_mentions.message_id')
    .select(columns.map((column) => `assistant_mentions.${column}` as const))
    .select('messages.content')
    .where('assistant_mentions.room_id', '=', room)
    .orderBy('assistant_mentions.message_id')
    .limit(1)
    .executeTakeFirst()

/** Rooms with mentions of which none is being answered. */
export async function roomsWithDueMentions(on: Reader, now: number): Promise<number[]> {
  const rows = await on.q
    .selectFrom('assistant_mentions')
    .select('room_id')
    .groupBy('room_id')
    .having(({ fn }) => fn.max('working_until'), '<=', now)
    .execute()
  return rows.map(({ room_id }) => room_id)
}

/**
 * Records that an answer began: the assistant's name, and until when it counts as typing. False while another server
 * answers.
 */
export async function beginMention(
  tx: Writer,
  message: number,
  { name, now, until }: { name: string; now: number; until: number },
): Promise<boolean> {
  const begun = await tx.q
    .updateTable('assistant_mentions')
    .set({ name, working_until: until, tries: sql`tries + 1` })
    .where('message_id', '=', message)
    .where('working_until', '<=', now)
    .returning('message_id')
    .execute()
  return begun.length > 0
}

/**
 * Leaves a mention that was begun until `until` to whoever begins it next; false if another server answers it by now.
 * `isUntried` if the attempt does not count.
 */
export async function leaveMention(
  tx: Writer,
  message: number,
  { until, isUntried }: { until: number; isUntried: boolean },
): Promise<boolean> {
  const left = await tx.q
    .updateTable('assistant_mentions')
    .set({ working_until: 0, ...(isUntried && { tries: sql`tries - 1` }) })
    .where('message_id', '=', message)
    .where('working_until', '=', until)
    .returning('message_id')
    .execute()
  return left.length > 0
}

const takeQuery = prepared<{ message: number }, Mention>(({ q, p }) =>
  q.deleteFrom('assistant_mentions').where('message_id', '=', p.message).returning(columns),
)

/** Deletes a mention and returns it; undefined if it is gone, for example with its message. */
export const takeMention = (tx: Writer, message: number): Promise<Mention | undefined> =>
  first(takeQuery(tx, { message }))
