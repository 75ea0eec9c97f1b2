import { first, prepared, type Reader, type Writer } from '../engine/database.ts'
import { isTokenValid, type Lifetime } from './device-tokens.ts'
import { FORMER_USER } from './former-user.ts'
import { importingAt } from './imports.ts'
import { isCurrent, type SessionBounds } from './sessions.ts'
import type { UserRow } from '../engine/tables.ts'

/** An account with the fields that login needs. */
export interface Account {
  id: number
  username: string
  display_name: string
  avatar_color: string
  role: UserRow['role']
  password_hash: string
  quota_bytes: number | null
  disabled_at: number | null
  last_login_at: number | null
  created_at: number
  /** When the second factor was enabled; null while it is off. */
  two_factor_since: number | null
  /** When the removal of the account began; null if it is not being removed. */
  removing_since: number | null
  /** When the import of the account last renewed its mark; null if it is complete. */
  importing_at: number | null
}

/** An account with a summary of its use. */
export interface ListedAccount extends Omit<Account, 'password_hash'> {
  used_bytes: number
  devices: number
  sessions: number
  /** Latest use of a device or a session, or latest login; null for never. */
  last_seen_at: number | null
  /** Consecutive wrong codes of the second factor, and until when they lock it. */
  code_failures: number
  codes_locked_until: number
}

export type NewAccount = Pick<
  Account,
  'username' | 'display_name' | 'avatar_color' | 'role' | 'password_hash' | 'quota_bytes'
>

const listed = [
  'users.id',
  'users.username',
  'users.display_name',
  'users.avatar_color',
  'users.role',
  'users.quota_bytes',
  'users.disabled_at',
  'users.last_login_at',
  'users.created_at',
  'second_factors.enabled_at as two_factor_since',
  'removals.begun_at as removing_since',
] as const

const byNameQuery = prepared<{ username: string }, Account>(({ q, p }) =>
  q
    .selectFrom('users')
    .leftJoin('second_factors', 'second_factors.user_id', 'users.id')
    .leftJoin('removals', 'removals.user_id', 'users.id')
    .select((users) => [...listed, 'users.password_hash', importingAt(users)])
    .where('users.username', '=', p.username)
    .where('users.username', '<>', FORMER_USER),
)

const byIdQuery = prepared<{ id: number }, Account>(({ q, p }) =>
  q
    .selectFrom('users')
    .leftJoin('second_factors', 'second_factors.user_id', 'users.id')
    .leftJoin('removals', 'removals.user_id', 'users.id')
    .select((users) => [...listed, 'users.password_hash', importingAt(users)])
    .where('users.id', '=', p.id)
    .where('users.username', '<>', FORMER_USER),
)

export const accountByName = (on: Reader, username: string): Promise<Account | undefined> =>
  first(byNameQuery(on, { username }))

export const accountById = (on: Reader, id: number): Promise<Account | undefined> => first(byIdQuery(on, { id }))

/** Accounts by name, or the one of that name, with their valid devices and sessions. */
export async function listAccounts(
  on: Reader,
  { lifetime, sessions, username }: { lifetime: Lifetime; sessions: SessionBounds; username?: string | undefined },
): Promise<ListedAccount[]> {
  const rows = await on.q
    .selectFrom('users')
    .leftJoin('second_factors', 'second_factors.user_id', 'users.id')
    .leftJoin('removals', 'removals.user_id', 'users.id')
    .innerJoin('counters', 'counters.user_id', 'users.id')
    .select((eb) => {
      const devicesOf = eb.selectFrom('device_tokens').whereRef('device_tokens.user_id', '=', 'users.id')
      const sessionsOf = eb.selectFrom('sessions').whereRef('sessions.user_id', '=', 'users.id')
      return [
        ...listed,
        importingAt(eb),
        'counters.used_bytes',
        'second_factors.failures',
        'second_factors.locked_until',
        devicesOf
          .select(({ fn }) => fn.countAll().as('count'))
          .where((tokens) => isTokenValid(tokens, lifetime))
          .as('devices'),
        sessionsOf
          .select(({ fn }) => fn.countAll().as('count'))
          .where((each) => isCurrent(each, sessions))
          .as('sessions'),
        devicesOf.select(({ fn }) => fn.max('device_tokens.last_used_at').as('last')).as('device_used_at'),
        sessionsOf.select(({ fn }) => fn.max('sessions.last_used_at').as('last')).as('session_used_at'),
      ]
    })
    .where('users.username', '<>', FORMER_USER)
    .$if(username !== undefined, (query) => query.where('users.username', '=', username!))
    .orderBy('users.username')
    .execute()
  // Copy fields one by one: better-sqlite3 rows are slow objects, and spreading ten thousand takes longer than the
  // query.
  return rows.map((row) => ({
    id: row.id,
    username: row.username,
    display_name: row.display_name,
    avatar_color: row.avatar_color,
    role: row.role,
    quota_bytes: row.quota_bytes,
    disabled_at: row.disabled_at,
    last_login_at: row.last_login_at,
    created_at: row.created_at,
    two_factor_since: row.two_factor_since,
    removing_since: row.removing_since,
    importing_at: row.importing_at,
    used_bytes: row.used_bytes,
    devices: Number(row.devices),
    sessions: Number(row.sessions),
    last_seen_at: latest(row.device_used_at, row.session_used_at, row.last_login_at),
    code_failures: row.failures ?? 0,
    codes_locked_until: row.locked_until ?? 0,
  }))
}

function latest(...moments: (number | null)[]): number | null {
  let last: number | null = null
  for (const moment of moments) if (moment !== null && (last === null || moment > last)) last = moment
  return last
}

export async function roomCountOf(on: Reader, id: number): Promise<number> {
  const { count } = await on.q
    .selectFrom('room_members')
    .select(({ fn }) => fn.countAll().as('count'))
    .where('user_id', '=', id)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Stores an account with counters and the root of its files. Undefined if the name is taken. */
export async function insertAccount(tx: Writer, account: NewAccount, now: number): Promise<number | undefined> {
  const user = await tx.q
    .insertInto('users')
    .values({ ...account, disabled_at: null, last_login_at: null, created_at: now, updated_at: now })
    .onConflict((conflict) => conflict.column('username').doNothing())
    .returning('id')
    .executeTakeFirst()
  if (!user) return undefined
  await tx.q.insertInto('counters').values({ user_id: user.id, seq: 0, oldest: 0, used_bytes: 0 }).execute()
  await tx.q
    .insertInto('nodes')
    .values({
      user_id: user.id,
      parent_id: null,
      name: '',
      name_key: '',
      type: 'directory',
      sha256: null,
      size: 0,
      mtime: Math.floor(now / 1_000),
      version: 1,
      created_at: now,
      updated_at: now,
      trash_id: null,
    })
    .execute()
  return user.id
}

type Changes = Partial<
  Pick<UserRow, 'display_name' | 'avatar_color' | 'role' | 'quota_bytes' | 'password_hash' | 'disabled_at'>
>

/** Changes columns of an account; `now` in ms. Nothing happens if the account is gone. */
export const updateAccount = (tx: Writer, id: number, changes: Changes, now: number) =>
  tx.q
    .updateTable('users')
    .set({ ...changes, updated_at: now })
    .where('id', '=', id)
    .execute()

/** Records a completed login. */
const stampQuery = prepared<{ id: number; now: number }, unknown>(({ q, p }) =>
  q.updateTable('users').set({ last_login_at: p.now }).where('id', '=', p.id),
)

export const stampLogin = (tx: Writer, id: number, now: number) => stampQuery(tx, { id, now })

/** Removes an account and everything it owns. */
export async function deleteAccount(tx: Writer, id: number): Promise<void> {
  // Delete counts first. Postgres checks the foreign key of a row that this transaction wrote each time it changes, and
  // the cascade below changes counts after their account is gone.
  await tx.q.deleteFrom('data_usage').where('user_id', '=', id).execute()
  await tx.q.deleteFrom('users').where('id', '=', id).execute()
  // Delete afterwards, because the cascade adds rows. The collector finds these contents.
  await tx.q.deleteFrom('released_contents').where('user_id', '=', id).execute()
  await tx.q.deleteFrom('instance').where('key', '=', `rewind:${id}`).execute()
  tx.notify('access', id, 0)
}

/** IDs of the administrators who can sign in. */
export async function adminIds(on: Reader): Promise<number[]> {
  const rows = await on.q
    .selectFrom('users')
    .select('id')
    .where('role', '=', 'admin')
    .where('disabled_at', 'is', null)
    .execute()
  return rows.map(({ id }) => id)
}

/** Like `adminIds`, and locks the rows until the transaction ends: the update does so on every engine. */
export async function lockAdmins(tx: Writer): Promise<number[]> {
  const rows = await tx.q
    .updateTable('users')
    .set((eb) => ({ updated_at: eb.ref('updated_at') }))
    .where('role', '=', 'admin')
    .where('disabled_at', 'is', null)
    .returning('id')
    .execute()
  return rows.map(({ id }) => id)
}
