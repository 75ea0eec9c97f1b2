import type { Reader, Writer } from '../engine/database.ts'

// What the assistant may do only after the user agreed.

export interface Confirmation {
  id: string
  user_id: number
  conversation_id: number
  /** JSON object. */
  state: string
  expires_at: number
}

export const insertConfirmation = (tx: Writer, confirmation: Confirmation) =>
  tx.q.insertInto('assistant_confirmations').values(confirmation).execute()

/** A confirmation of this user, over or not; undefined when there is none with this id. */
export const confirmationOf = (on: Reader, user: number, id: string): Promise<Confirmation | undefined> =>
  on.q
    .selectFrom('assistant_confirmations')
    .selectAll()
    .where('id', '=', id)
    .where('user_id', '=', user)
    .executeTakeFirst()

/** Takes a confirmation away; false when somebody else was faster. */
export async function takeConfirmation(tx: Writer, id: string): Promise<boolean> {
  const rows = await tx.q.deleteFrom('assistant_confirmations').where('id', '=', id).returning('id').execute()
  return rows.length > 0
}

/** Forgets confirmations that were over before a moment. */
export const forgetConfirmations = (tx: Writer, before: number) =>
  tx.q.deleteFrom('assistant_confirmations').where('expires_at', '<', before).execute()
