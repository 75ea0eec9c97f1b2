import { first, prepared, type Reader, type Writer } from '../engine/database.ts'
import type { PendingLoginRow } from '../engine/tables.ts'

export type LoginKind = PendingLoginRow['kind']

export interface PendingLogin {
  id: number
  user_id: number
  device_id: string | null
  device_name: string | null
  tries: number
}

export type NewPendingLogin = Omit<PendingLoginRow, 'id' | 'tries'>

const waitingQuery = prepared<{ user: number }, { id: number }>(({ q, p }) =>
  q.selectFrom('pending_logins').select('id').where('user_id', '=', p.user).orderBy('id', 'desc'),
)

const insertQuery = prepared<NewPendingLogin, unknown>(({ q, p }) =>
  q.insertInto('pending_logins').values({
    kind: p.kind,
    token_hash: p.token_hash,
    user_id: p.user_id,
    device_id: p.device_id,
    device_name: p.device_name,
    tries: 0,
    expires_at: p.expires_at,
  }),
)

/** Stores a login that waits for its second factor, and keeps the newest `max` of the account. */
export async function insertPendingLogin(tx: Writer, login: NewPendingLogin, max: number): Promise<void> {
  const kept = await waitingQuery(tx, { user: login.user_id })
  const excess = kept.slice(max - 1).map(({ id }) => id)
  if (excess.length > 0) await tx.q.deleteFrom('pending_logins').where('id', 'in', excess).execute()
  await insertQuery(tx, login)
}

const pendingQuery = prepared<{ kind: LoginKind; hash: string; now: number }, PendingLogin>(({ q, p }) =>
  q
    .selectFrom('pending_logins')
    .select(['id', 'user_id', 'device_id', 'device_name', 'tries'])
    .where('token_hash', '=', p.hash)
    .where('kind', '=', p.kind)
    .where('expires_at', '>', p.now),
)

/** The unexpired pending login of this kind with this token hash. */
export const pendingLogin = (
  on: Reader,
  kind: LoginKind,
  hash: string,
  now: number,
): Promise<PendingLogin | undefined> => first(pendingQuery(on, { kind, hash, now }))

export const countTry = (tx: Writer, id: number) =>
  tx.q
    .updateTable('pending_logins')
    .set((eb) => ({ tries: eb('tries', '+', 1) }))
    .where('id', '=', id)
    .execute()

const takeQuery = prepared<{ id: number }, { id: number }>(({ q, p }) =>
  q.deleteFrom('pending_logins').where('id', '=', p.id).returning('id'),
)

/** Consumes a pending login; false if another request did. */
export const takePendingLogin = async (tx: Writer, id: number): Promise<boolean> =>
  (await first(takeQuery(tx, { id }))) !== undefined

export const deletePendingLoginsOf = (tx: Writer, user: number) =>
  tx.q.deleteFrom('pending_logins').where('user_id', '=', user).execute()

export const deletePendingLoginByHash = (tx: Writer, hash: string) =>
  tx.q.deleteFrom('pending_logins').where('token_hash', '=', hash).execute()

export const sweepPendingLogins = (tx: Writer, now: number) =>
  tx.q.deleteFrom('pending_logins').where('expires_at', '<=', now).execute()

export const deleteAllPendingLogins = (tx: Writer) => tx.q.deleteFrom('pending_logins').execute()
