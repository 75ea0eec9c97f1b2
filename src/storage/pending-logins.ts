import type { Reader, Writer } from './database.ts'
import type { PendingLoginRow } from './tables.ts'

export type LoginKind = PendingLoginRow['kind']

export interface PendingLogin {
  id: number
  user_id: number
  device_id: string | null
  device_name: string | null
  tries: number
}

export type NewPendingLogin = Omit<PendingLoginRow, 'id' | 'tries'>

/** Stores a login that waits for its second factor, sweeps those that are over, and keeps the account's newest `max`. */
export async function insertPendingLogin(tx: Writer, login: NewPendingLogin, now: number, max: number): Promise<void> {
  await tx.q.deleteFrom('pending_logins').where('expires_at', '<=', now).execute()
  const kept = await tx.q
    .selectFrom('pending_logins')
    .select('id')
    .where('user_id', '=', login.user_id)
    .orderBy('id', 'desc')
    .execute()
  const excess = kept.slice(max - 1).map(({ id }) => id)
  if (excess.length > 0) await tx.q.deleteFrom('pending_logins').where('id', 'in', excess).execute()
  await tx.q
    .insertInto('pending_logins')
    .values({ ...login, tries: 0 })
    .execute()
}

/** The login that waits under this token hash, of this kind only, unless its time is over. */
export const pendingLogin = (
  on: Reader,
  kind: LoginKind,
  hash: string,
  now: number,
): Promise<PendingLogin | undefined> =>
  on.q
    .selectFrom('pending_logins')
    .select(['id', 'user_id', 'device_id', 'device_name', 'tries'])
    .where('token_hash', '=', hash)
    .where('kind', '=', kind)
    .where('expires_at', '>', now)
    .executeTakeFirst()

export const countTry = (tx: Writer, id: number) =>
  tx.q
    .updateTable('pending_logins')
    .set((eb) => ({ tries: eb('tries', '+', 1) }))
    .where('id', '=', id)
    .execute()

/** Uses a pending login up; false when somebody else did. */
export async function takePendingLogin(tx: Writer, id: number): Promise<boolean> {
  const row = await tx.q.deleteFrom('pending_logins').where('id', '=', id).returning('id').executeTakeFirst()
  return row !== undefined
}

export const deletePendingLoginsOf = (tx: Writer, user: number) =>
  tx.q.deleteFrom('pending_logins').where('user_id', '=', user).execute()

/** Ends the waiting login with this token hash. */
export const deletePendingLoginByHash = (tx: Writer, hash: string) =>
  tx.q.deleteFrom('pending_logins').where('token_hash', '=', hash).execute()

/** Ends every waiting login of everybody. */
export const deleteAllPendingLogins = (tx: Writer) => tx.q.deleteFrom('pending_logins').execute()
