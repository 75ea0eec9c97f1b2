import { prepared, type Reader, type Writer } from '../engine/database.ts'

export interface Reaction {
  message_id: number
  user_id: number
  emoji: string
}

/** Pads to 1, 2, 4, 8 … IDs, so that there are few different statements. */
function padded(ids: number[]): number[] {
  const length = 2 ** Math.ceil(Math.log2(ids.length))
  return [...ids, ...Array<number>(length - ids.length).fill(ids[0]!)]
}

/** The reactions to messages, oldest first. */
export const reactionsTo = async (on: Reader, messages: number[]): Promise<Reaction[]> =>
  messages.length === 0
    ? []
    : on.q
        .selectFrom('reactions')
        .select(['message_id', 'user_id', 'emoji'])
        .where('message_id', 'in', padded(messages))
        .orderBy('created_at')
        .orderBy('user_id')
        .execute()

const removeQuery = prepared<{ message: number; user: number; emoji: string }, { user_id: number }>(({ q, p }) =>
  q
    .deleteFrom('reactions')
    .where('message_id', '=', p.message)
    .where('user_id', '=', p.user)
    .where('emoji', '=', p.emoji)
    .returning('user_id'),
)

/** False if there is none. */
export const removeReaction = async (
  tx: Writer,
  reaction: { message: number; user: number; emoji: string },
): Promise<boolean> => (await removeQuery(tx, reaction)).length > 0

export const insertReaction = (tx: Writer, { message_id, user_id, emoji }: Reaction, stamp: number) =>
  tx.q.insertInto('reactions').values({ message_id, user_id, emoji, created_at: stamp }).execute()

/** Records the time of a reaction on its message. */
export const touchMessage = (tx: Writer, id: number, stamp: number) =>
  tx.q.updateTable('messages').set({ changed_at: stamp }).where('id', '=', id).execute()
