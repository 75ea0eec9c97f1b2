import type { Reader, Writer } from '../engine/database.ts'

// Tool calls that wait for the user's confirmation.

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

export const confirmationOf = (on: Reader, user: number, id: string): Promise<Confirmation | undefined> =>
  on.q
    .selectFrom('assistant_confirmations')
    .selectAll()
    .where('id', '=', id)
    .where('user_id', '=', user)
    .executeTakeFirst()

/** Consumes a confirmation; false if another request did. */
export async function takeConfirmation(tx: Writer, id: string): Promise<boolean> {
  const rows = await tx.q.deleteFrom('assistant_confirmations').where('id', '=', id).returning('id').execute()
  return rows.length > 0
}

export const forgetConfirmations = (tx: Writer, before: number) =>
  tx.q.deleteFrom('assistant_confirmations').where('expires_at', '<', before).execute()
