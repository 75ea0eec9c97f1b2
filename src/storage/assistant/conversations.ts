import { first, prepared, type Reader, type Writer } from '../engine/database.ts'

// Conversations with the assistant. Every query includes the user's ID, so that other users' conversations are not
// found.

export interface Conversation {
  id: number
  title: string
  tainted: number
  created_at: number
  updated_at: number
}

export interface ListedConversation extends Conversation {
  messages: number
}

export interface StoredTurn {
  id: number
  role: 'user' | 'assistant'
  content: string
  /** JSON array. */
  actions: string
  created_at: number
}

const columns = ['id', 'title', 'tainted', 'created_at', 'updated_at'] as const

const oneQuery = prepared<{ id: number; user: number }, Conversation>(({ q, p }) =>
  q.selectFrom('assistant_conversations').select(columns).where('id', '=', p.id).where('user_id', '=', p.user),
)

export const conversationOf = (on: Reader, user: number, id: number): Promise<Conversation | undefined> =>
  first(oneQuery(on, { id, user }))

/** The conversations of a user with their message counts, most recently used first. */
export async function conversationsOf(on: Reader, user: number, limit: number): Promise<ListedConversation[]> {
  const rows = await on.q
    .selectFrom('assistant_conversations as c')
    .select(['c.id', 'c.title', 'c.tainted', 'c.created_at', 'c.updated_at'])
    .select((eb) =>
      eb
        .selectFrom('assistant_messages as m')
        .select(({ fn }) => fn.countAll().as('count'))
        .whereRef('m.conversation_id', '=', 'c.id')
        .as('messages'),
    )
    .where('c.user_id', '=', user)
    .orderBy('c.updated_at', 'desc')
    .orderBy('c.id', 'desc')
    .limit(limit)
    .execute()
  return rows.map((row) => ({ ...row, messages: Number(row.messages) }))
}

const turnsQuery = prepared<{ conversation: number; limit: number }, StoredTurn>(({ q, p }) =>
  q
    .selectFrom('assistant_messages')
    .select(['id', 'role', 'content', 'actions', 'created_at'])
    .where('conversation_id', '=', p.conversation)
    .orderBy('id', 'desc')
    .limit(p.limit),
)

/** The latest messages of a conversation, oldest first. */
export const turnsOf = async (on: Reader, conversation: number, limit: number): Promise<StoredTurn[]> =>
  (await turnsQuery(on, { conversation, limit })).reverse()

/** Conversations of a user with IDs above `after`, in order. */
export const conversationsAfter = (on: Reader, user: number, after: number, limit: number): Promise<Conversation[]> =>
  on.q
    .selectFrom('assistant_conversations')
    .select(columns)
    .where('user_id', '=', user)
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute()

/** Messages of a conversation with IDs above `after`, in order. */
export const turnsAfter = (on: Reader, conversation: number, after: number, limit: number): Promise<StoredTurn[]> =>
  on.q
    .selectFrom('assistant_messages')
    .select(['id', 'role', 'content', 'actions', 'created_at'])
    .where('conversation_id', '=', conversation)
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute()

export async function insertConversation(
  tx: Writer,
  conversation: { user_id: number; title: string; tainted: number; created_at: number; updated_at: number },
): Promise<number> {
  const row = await tx.q.insertInto('assistant_conversations').values(conversation).returning('id').executeTakeFirst()
  return row!.id
}

/** Records activity of a conversation; false if it was deleted. Once tainted, it remains so. */
export async function touchConversation(tx: Writer, id: number, tainted: boolean, now: number): Promise<boolean> {
  const rows = await tx.q
    .updateTable('assistant_conversations')
    .set({ updated_at: now, ...(tainted && { tainted: 1 }) })
    .where('id', '=', id)
    .returning('id')
    .execute()
  return rows.length > 0
}

const addQuery = prepared<
  { conversation: number; role: 'user' | 'assistant'; content: string; actions: string; now: number },
  never
>(({ q, p }) =>
  q.insertInto('assistant_messages').values({
    conversation_id: p.conversation,
    role: p.role,
    content: p.content,
    actions: p.actions,
    created_at: p.now,
  }),
)

export async function insertTurn(
  tx: Writer,
  message: { conversation: number; role: 'user' | 'assistant'; content: string; actions: string; now: number },
): Promise<void> {
  await addQuery(tx, message)
}

/** Deletes a conversation with its messages; false if this user has none with this ID. */
export async function deleteConversation(tx: Writer, user: number, id: number): Promise<boolean> {
  const rows = await tx.q
    .deleteFrom('assistant_conversations')
    .where('id', '=', id)
    .where('user_id', '=', user)
    .returning('id')
    .execute()
  return rows.length > 0
}
