import type { ExpressionBuilder } from 'kysely'
import { first, prepared, type Reader, type Writer } from '../engine/database.ts'
import type { SessionRow, Tables, UserRow } from '../engine/tables.ts'

/** When sessions expire: unused since `idleSince`, or created before `madeSince`. */
export interface SessionBounds {
  idleSince: number
  madeSince: number
}

/** The condition for a valid session. */
export const isCurrent = (eb: ExpressionBuilder<Tables, 'sessions'>, { idleSince, madeSince }: SessionBounds) =>
  eb.and([eb('sessions.last_used_at', '>', idleSince), eb('sessions.created_at', '>', madeSince)])

export interface SessionHolder {
  session_id: number
  created_at: number
  last_used_at: number
  user_id: number
  username: string
  display_name: string
  avatar_color: string
  role: UserRow['role']
}

const holderQuery = prepared<{ hash: string; idleSince: number; madeSince: number }, SessionHolder>(({ q, p }) =>
  q
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.user_id')
    .select([
      'sessions.id as session_id',
      'sessions.created_at',
      'sessions.last_used_at',
      'users.id as user_id',
      'users.username',
      'users.display_name',
      'users.avatar_color',
      'users.role',
    ])
    .where('sessions.token_hash', '=', p.hash)
    .where('sessions.last_used_at', '>', p.idleSince)
    .where('sessions.created_at', '>', p.madeSince)
    .where('users.disabled_at', 'is', null),
)

/** The valid session with this hash and its account, if that may sign in. */
export const sessionHolder = (on: Reader, hash: string, bounds: SessionBounds): Promise<SessionHolder | undefined> =>
  first(holderQuery(on, { hash, ...bounds }))

/** Which of these sessions are valid and belong to accounts that may sign in. */
export async function validSessions(on: Reader, ids: readonly number[], bounds: SessionBounds): Promise<number[]> {
  const rows = await on.q
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.user_id')
    .select('sessions.id')
    .where('sessions.id', 'in', ids)
    .where('users.disabled_at', 'is', null)
    .where((eb) => isCurrent(eb as unknown as ExpressionBuilder<Tables, 'sessions'>, bounds))
    .execute()
  return rows.map(({ id }) => id)
}

/** Creates a session and deletes the account's least recently used ones beyond `max`. Returns its ID. */
export async function insertSession(tx: Writer, session: Omit<SessionRow, 'id'>, max: number): Promise<number> {
  const others = await tx.q
    .selectFrom('sessions')
    .select('id')
    .where('user_id', '=', session.user_id)
    .orderBy('last_used_at', 'desc')
    .orderBy('id', 'desc')
    .execute()
  const excess = others.slice(max - 1).map(({ id }) => id)
  if (excess.length > 0) {
    await tx.q.deleteFrom('sessions').where('id', 'in', excess).execute()
    tx.notify('access', session.user_id, 0)
  }
  const { id } = await tx.q.insertInto('sessions').values(session).returning('id').executeTakeFirstOrThrow()
  return id
}

const touchQuery = prepared<{ id: number; now: number; before: number; ip: string }, never>(({ q, p }) =>
  q
    .updateTable('sessions')
    .set({ last_used_at: p.now, ip: p.ip })
    .where('id', '=', p.id)
    .where('last_used_at', '<=', p.before),
)

/** Records the use of a session, unless one after `before` is recorded. */
export const touchSession = (tx: Writer, id: number, now: number, before: number, ip: string): Promise<never[]> =>
  touchQuery(tx, { id, now, before, ip })

export type StoredSession = Omit<SessionRow, 'id' | 'user_id' | 'token_hash'> & { session_id: number }

/** The valid sessions of an account, most recently used first. */
export const sessionsOf = (on: Reader, user: number, bounds: SessionBounds): Promise<StoredSession[]> =>
  on.q
    .selectFrom('sessions')
    .select(['id as session_id', 'created_at', 'last_used_at', 'ip', 'user_agent'])
    .where('user_id', '=', user)
    .where((eb) => isCurrent(eb, bounds))
    .orderBy('last_used_at', 'desc')
    .orderBy('id', 'desc')
    .execute()

/** Deletes a session of an account; false if it has none with this ID. */
export async function deleteSession(tx: Writer, user: number, id: number): Promise<boolean> {
  const gone = await tx.q
    .deleteFrom('sessions')
    .where('id', '=', id)
    .where('user_id', '=', user)
    .returning('id')
    .execute()
  if (gone.length > 0) tx.notify('access', user, 0)
  return gone.length > 0
}

/** Notifies that sessions of these accounts ended. Returns the number of sessions. */
function ended(tx: Writer, gone: readonly { user_id: number }[]): number {
  for (const user of new Set(gone.map(({ user_id }) => user_id))) tx.notify('access', user, 0)
  return gone.length
}

export async function deleteSessionByHash(tx: Writer, hash: string): Promise<void> {
  ended(tx, await tx.q.deleteFrom('sessions').where('token_hash', '=', hash).returning('user_id').execute())
}

export async function ownerOfCookie(on: Reader, hash: string): Promise<number | undefined> {
  const session = on.q.selectFrom('sessions').select('user_id').where('token_hash', '=', hash)
  const pending = on.q.selectFrom('pending_logins').select('user_id').where('token_hash', '=', hash)
  return (await session.unionAll(pending).executeTakeFirst())?.user_id
}

/** Deletes all sessions of an account except one. Returns their number. */
export async function deleteSessionsOf(tx: Writer, user: number, but = 0): Promise<number> {
  const gone = await tx.q
    .deleteFrom('sessions')
    .where('user_id', '=', user)
    .where('id', '!=', but)
    .returning('user_id')
    .execute()
  return ended(tx, gone)
}

/** Deletes all sessions. Returns their number. */
export const deleteAllSessions = async (tx: Writer): Promise<number> =>
  ended(tx, await tx.q.deleteFrom('sessions').returning('user_id').execute())

export const sweepSessions = (tx: Writer, { idleSince, madeSince }: SessionBounds) =>
  tx.q
    .deleteFrom('sessions')
    .where((eb) => eb.or([eb('last_used_at', '<=', idleSince), eb('created_at', '<=', madeSince)]))
    .execute()
