import { first, prepared, type Reader, type Writer } from './database.ts'
import { lives, type Lifetime } from './device-tokens.ts'
import type { UserRow } from './tables.ts'

/** An account with what a login needs to know about it. */
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
  /** Since when the second factor is on; null when it is off. */
  two_factor_since: number | null
}

export interface ListedAccount extends Omit<Account, 'password_hash'> {
  used_bytes: number
  devices: number
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
] as const

const byNameQuery = prepared<{ username: string }, Account>(({ q, p }) =>
  q
    .selectFrom('users')
    .leftJoin('second_factors', 'second_factors.user_id', 'users.id')
    .select([...listed, 'users.password_hash'])
    .where('users.username', '=', p.username),
)

const byIdQuery = prepared<{ id: number }, Account>(({ q, p }) =>
  q
    .selectFrom('users')
    .leftJoin('second_factors', 'second_factors.user_id', 'users.id')
    .select([...listed, 'users.password_hash'])
    .where('users.id', '=', p.id),
)

export const accountByName = (on: Reader, username: string): Promise<Account | undefined> =>
  first(byNameQuery(on, { username }))

export const accountById = (on: Reader, id: number): Promise<Account | undefined> => first(byIdQuery(on, { id }))

/** Every account by name, or the one of that name, with the devices that are still signed in. */
export async function listAccounts(on: Reader, lifetime: Lifetime, username?: string): Promise<ListedAccount[]> {
  const rows = await on.q
    .selectFrom('users')
    .leftJoin('second_factors', 'second_factors.user_id', 'users.id')
    .innerJoin('counters', 'counters.user_id', 'users.id')
    .select((eb) => [
      ...listed,
      'counters.used_bytes',
      eb
        .selectFrom('device_tokens')
        .select(({ fn }) => fn.countAll().as('count'))
        .whereRef('device_tokens.user_id', '=', 'users.id')
        .where((tokens) => lives(tokens, lifetime))
        .as('devices'),
    ])
    .$if(username !== undefined, (query) => query.where('users.username', '=', username!))
    .orderBy('users.username')
    .execute()
  return rows.map((row) => ({ ...row, devices: Number(row.devices) }))
}

/** Stores an account with its counters and the root of its file tree. Returns its id, undefined when the name is taken. */
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

export const updateAccount = (tx: Writer, id: number, changes: Changes, now: number) =>
  tx.q
    .updateTable('users')
    .set({ ...changes, updated_at: now })
    .where('id', '=', id)
    .execute()

/** Notes a completed login. */
export const stampLogin = (tx: Writer, id: number, now: number) =>
  tx.q.updateTable('users').set({ last_login_at: now }).where('id', '=', id).execute()

/** Removes an account with everything that is its own. */
export const deleteAccount = (tx: Writer, id: number) => tx.q.deleteFrom('users').where('id', '=', id).execute()

/** Whether anybody else than `except` is an administrator who can sign in. */
export async function otherAdminExists(on: Reader, except: number): Promise<boolean> {
  const row = await on.q
    .selectFrom('users')
    .select('id')
    .where('role', '=', 'admin')
    .where('disabled_at', 'is', null)
    .where('id', '!=', except)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}
