import { sql, type Kysely } from 'kysely'
import { first, prepared, type Reader, type Writer } from '../engine/database.ts'
import { deleteOldest } from '../engine/slices.ts'
import type { Tables } from '../engine/tables.ts'

// Messages with the shown fields of their authors, and their reactions.

export interface Message {
  id: number
  room_id: number
  user_id: number
  content: string
  timestamp: number
  edited_at: number | null
  reply_to: number | null
  is_assistant: number
  /** Latest edit or reaction; 0 for never. */
  changed_at: number
  username: string
  display_name: string
  avatar_color: string
  /** The assistant's name if it speaks for the user. */
  spoken_by: string | null
}

const messages = (q: Kysely<Tables>) =>
  q
    .selectFrom('messages')
    .innerJoin('users', 'users.id', 'messages.user_id')
    .select([
      'messages.id',
      'messages.room_id',
      'messages.user_id',
      'messages.content',
      'messages.timestamp',
      'messages.edited_at',
      'messages.reply_to',
      'messages.is_assistant',
      'messages.changed_at',
      'messages.spoken_by',
      'users.username',
      'users.display_name',
      'users.avatar_color',
    ])

const messagesFor = (q: Kysely<Tables>, user: number) =>
  messages(q)
    .innerJoin('room_members', 'room_members.room_id', 'messages.room_id')
    .where('room_members.user_id', '=', user)

const beforeQuery = prepared<{ room: number; user: number; before: number; limit: number }, Message>(({ q, p }) =>
  messagesFor(q, p.user)
    .where('messages.room_id', '=', p.room)
    .where('messages.timestamp', '<', p.before)
    .orderBy('messages.timestamp', 'desc')
    .limit(p.limit),
)

/** The latest messages of a room before a time, newest first; empty for non-members. */
export const messagesBefore = (
  on: Reader,
  page: { room: number; user: number; before: number; limit: number },
): Promise<Message[]> => beforeQuery(on, page)

type Since = { room: number; after: number; limit: number }

const afterQuery = prepared<Since, Message>(({ q, p }) =>
  messages(q)
    .where('messages.room_id', '=', p.room)
    .where('messages.timestamp', '>', p.after)
    .orderBy('messages.timestamp')
    .limit(p.limit),
)

/** The first messages of a room after a time. The caller must be a member. */
export const messagesAfter = (on: Reader, since: Since): Promise<Message[]> => afterQuery(on, since)

const changedQuery = prepared<Since, Message>(({ q, p }) =>
  messages(q)
    .where('messages.room_id', '=', p.room)
    .where('messages.changed_at', '>', p.after)
    .where('messages.timestamp', '<=', p.after)
    .orderBy('messages.changed_at')
    .limit(p.limit),
)

/** Messages before a time that were edited or reacted to after it, in order of change. The caller must be a member. */
export const messagesChangedAfter = (on: Reader, since: Since): Promise<Message[]> => changedQuery(on, since)

const deletedQuery = prepared<Since, { message_id: number; deleted_at: number }>(({ q, p }) =>
  q
    .selectFrom('deleted_messages')
    .select(['message_id', 'deleted_at'])
    .where('room_id', '=', p.room)
    .where('deleted_at', '>', p.after)
    .orderBy('deleted_at')
    .limit(p.limit),
)

/** Messages deleted after a time, in order. */
export const messagesDeletedAfter = (on: Reader, since: Since): Promise<{ message_id: number; deleted_at: number }[]> =>
  deletedQuery(on, since)

const lastQuery = prepared<{ user: number }, Message>(({ q, p }) =>
  messagesFor(q, p.user).where('messages.timestamp', '=', (eb) =>
    eb
      .selectFrom('messages as newest')
      .select(({ fn }) => fn.max('newest.timestamp').as('timestamp'))
      .whereRef('newest.room_id', '=', 'room_members.room_id'),
  ),
)

export const lastMessagesOf = (on: Reader, user: number): Promise<Message[]> => lastQuery(on, { user })

type Like = { room: number; user: number; from: number; before: number; pattern: string; limit: number }

const stretchQuery = prepared<{ room: number; before: number; skip: number }, { timestamp: number }>(({ q, p }) =>
  q
    .selectFrom('messages')
    .select('timestamp')
    .where('room_id', '=', p.room)
    .where('timestamp', '<', p.before)
    .orderBy('timestamp', 'desc')
    .limit(1)
    .offset(p.skip),
)

const likeQuery = prepared<Like, Message>(({ q, p }) =>
  messagesFor(q, p.user)
    .where('messages.room_id', '=', p.room)
    .where('messages.timestamp', '<', p.before)
    .where('messages.timestamp', '>=', p.from)
    .where(sql<boolean>`messages.folded like ${p.pattern} escape '\\'`)
    .orderBy('messages.timestamp', 'desc')
    .limit(p.limit),
)

/** Messages compared with the pattern per query. */
const COMPARED = 500

/**
 * Searches a part of a room before a time for messages whose folded text matches, newest first; `before` is where the
 * next part begins, undefined after the last. Empty for non-members.
 */
export async function searchPart(
  on: Reader,
  part: { room: number; user: number; before: number; pattern: string; limit: number },
): Promise<{ found: Message[]; before: number | undefined }> {
  const { room, before } = part
  const oldest = await first(stretchQuery(on, { room, before, skip: COMPARED - 1 }))
  const found = await likeQuery(on, { ...part, from: oldest?.timestamp ?? Number.MIN_SAFE_INTEGER })
  return { found, before: oldest?.timestamp }
}

const sameQuery = prepared<{ room: number; user: number; client: string }, Message>(({ q, p }) =>
  messages(q)
    .where('messages.room_id', '=', p.room)
    .where('messages.user_id', '=', p.user)
    .where('messages.client_id', '=', p.client),
)

/** The message with this client ID. */
export const messageOfClient = (
  on: Reader,
  key: { room: number; user: number; client: string },
): Promise<Message | undefined> => first(sameQuery(on, key))

interface VisibleMessage {
  id: number
  room_id: number
  user_id: number
  is_assistant: number
}

const visibleQuery = prepared<{ id: number; user: number }, VisibleMessage>(({ q, p }) =>
  q
    .selectFrom('messages')
    .innerJoin('room_members', 'room_members.room_id', 'messages.room_id')
    .select(['messages.id', 'messages.room_id', 'messages.user_id', 'messages.is_assistant'])
    .where('messages.id', '=', p.id)
    .where('room_members.user_id', '=', p.user),
)

/** Room and author of a message in a room of the user. */
export const visibleMessage = (on: Reader, id: number, user: number): Promise<VisibleMessage | undefined> =>
  first(visibleQuery(on, { id, user }))

const stateQuery = prepared<{ id: number }, { user_id: number; content: string; version: number }>(({ q, p }) =>
  q.selectFrom('messages').select(['user_id', 'content', 'version']).where('id', '=', p.id),
)

/** Author, text and version of a message; undefined if it was deleted. */
export const messageState = (
  on: Reader,
  id: number,
): Promise<{ user_id: number; content: string; version: number } | undefined> => first(stateQuery(on, { id }))

interface NewMessage {
  [column: string]: unknown
  room_id: number
  user_id: number
  content: string
  folded: string
  timestamp: number
  reply_to: number | null
  client_id: string | null
  is_assistant: number
  spoken_by: string | null
}

const insertQuery = prepared<NewMessage, { id: number }>(({ q, p }) =>
  q
    .insertInto('messages')
    .values({
      room_id: p.room_id,
      user_id: p.user_id,
      content: p.content,
      folded: p.folded,
      timestamp: p.timestamp,
      reply_to: p.reply_to,
      client_id: p.client_id,
      is_assistant: p.is_assistant,
      spoken_by: p.spoken_by,
      edited_at: null,
      version: 1,
    })
    .returning('id'),
)

export async function insertMessage(tx: Writer, message: NewMessage): Promise<number> {
  return (await first(insertQuery(tx, message)))!.id
}

export const editMessage = (tx: Writer, id: number, text: { content: string; folded: string }, stamp: number) =>
  tx.q
    .updateTable('messages')
    .set({ ...text, edited_at: stamp, changed_at: stamp, version: sql`version + 1` })
    .where('id', '=', id)
    .execute()

/** Deletes a message with its text and reactions; only its ID is remembered. */
export async function deleteMessage(tx: Writer, id: number, room: number, stamp: number): Promise<void> {
  const gone = await tx.q.deleteFrom('messages').where('id', '=', id).returning('user_id').executeTakeFirst()
  await tx.q
    .insertInto('deleted_messages')
    .values({ message_id: id, room_id: room, deleted_at: stamp, user_id: gone?.user_id ?? null })
    .execute()
}

export const forgetDeletions = deleteOldest({ table: 'deleted_messages', age: 'deleted_at', key: ['message_id'] })
