import type { ExpressionBuilder } from 'kysely'
import { first, prepared, type Reader, type Writer } from '../engine/database.ts'
import type { DeviceTokenRow, Tables, UserRow } from '../engine/tables.ts'

/** Expired: unused since `idleSince`, created before `madeSince` (-1: never), or past their own expiry. */
export interface Lifetime {
  now: number
  idleSince: number
  madeSince: number
}

export const isTokenValid = (eb: ExpressionBuilder<Tables, 'device_tokens'>, { now, idleSince, madeSince }: Lifetime) =>
  eb.and([
    eb.or([eb('device_tokens.expires_at', 'is', null), eb('device_tokens.expires_at', '>', now)]),
    eb(eb.fn.coalesce('device_tokens.last_used_at', 'device_tokens.created_at'), '>', idleSince),
    eb('device_tokens.created_at', '>', madeSince),
  ])

export interface TokenHolder {
  token_id: number
  device_id: string
  device_name: string
  created_at: number
  last_used_at: number | null
  expires_at: number | null
  allows_code: number
  user_id: number
  username: string
  display_name: string
  avatar_color: string
  role: UserRow['role']
}

const holderQuery = prepared<{ hash: string } & { [bound in keyof Lifetime]: number }, TokenHolder>(({ q, p }) =>
  q
    .selectFrom('device_tokens')
    .innerJoin('users', 'users.id', 'device_tokens.user_id')
    .select([
      'device_tokens.id as token_id',
      'device_tokens.device_id',
      'device_tokens.device_name',
      'device_tokens.created_at',
      'device_tokens.last_used_at',
      'device_tokens.expires_at',
      'device_tokens.allows_code',
      'users.id as user_id',
      'users.username',
      'users.display_name',
      'users.avatar_color',
      'users.role',
    ])
    .where('device_tokens.token_hash', '=', p.hash)
    .where('users.disabled_at', 'is', null)
    .where((eb) => isTokenValid(eb as unknown as ExpressionBuilder<Tables, 'device_tokens'>, p)),
)

/** The valid token with this hash and its account, if that may sign in. */
export const holderOf = (on: Reader, hash: string, lifetime: Lifetime): Promise<TokenHolder | undefined> =>
  first(holderQuery(on, { hash, ...lifetime }))

const touchQuery = prepared<{ id: number; now: number; before: number; ip: string }, never>(({ q, p }) =>
  q
    .updateTable('device_tokens')
    .set({ last_used_at: p.now, last_ip: p.ip })
    .where('id', '=', p.id)
    .where((eb) => eb.or([eb('last_used_at', 'is', null), eb('last_used_at', '<=', p.before)])),
)

/** Records the use of a token, unless one after `before` is recorded. */
export const touchToken = (tx: Writer, id: number, now: number, before: number, ip: string): Promise<never[]> =>
  touchQuery(tx, { id, now, before, ip })

/** Which of these tokens are valid and belong to accounts that may sign in. */
export async function validTokens(on: Reader, ids: readonly number[], lifetime: Lifetime): Promise<number[]> {
  const rows = await on.q
    .selectFrom('device_tokens')
    .innerJoin('users', 'users.id', 'device_tokens.user_id')
    .select('device_tokens.id')
    .where('device_tokens.id', 'in', ids)
    .where('users.disabled_at', 'is', null)
    .where((eb) => isTokenValid(eb as unknown as ExpressionBuilder<Tables, 'device_tokens'>, lifetime))
    .execute()
  return rows.map(({ id }) => id)
}

export type StoredDevice = Omit<DeviceTokenRow, 'id' | 'user_id' | 'token_hash' | 'allows_code'> & { token_id: number }

type OfUser = { user: number } & { [bound in keyof Lifetime]: number }

const devicesQuery = prepared<OfUser, StoredDevice>(({ q, p }) =>
  q
    .selectFrom('device_tokens')
    .select(['id as token_id', 'device_id', 'device_name', 'created_at', 'last_used_at', 'last_ip', 'expires_at'])
    .where('user_id', '=', p.user)
    .where((eb) => isTokenValid(eb, p))
    .orderBy((eb) => eb.fn.coalesce('last_used_at', 'created_at'), 'desc')
    .orderBy('id', 'desc'),
)

/** The valid tokens of an account, most recently used first. */
export const devicesOf = (on: Reader, user: number, lifetime: Lifetime): Promise<StoredDevice[]> =>
  devicesQuery(on, { user, ...lifetime })

/** A token that may not install code unless it says so. */
export type NewToken = Omit<DeviceTokenRow, 'id' | 'allows_code'> & { allows_code?: 0 | 1 }

const yieldQuery = prepared<OfUser & { device: string }, { id: number }>(({ q, p }) =>
  q
    .deleteFrom('device_tokens')
    .where('user_id', '=', p.user)
    .where((eb) => eb.or([eb('device_id', '=', p.device), eb.not(isTokenValid(eb, p))]))
    .returning('id'),
)

/**
 * Stores a token in place of the device's previous one, and deletes expired ones; beyond `max`, also the least recently
 * used. Tokens with their own expiry are not counted or deleted: they were not created by signing in.
 */
export async function replaceToken(tx: Writer, token: NewToken, lifetime: Lifetime, max: number): Promise<number> {
  const yielded = await yieldQuery(tx, { user: token.user_id, device: token.device_id, ...lifetime })
  const kept = (await devicesOf(tx, token.user_id, lifetime)).filter(({ expires_at }) => expires_at === null)
  const excess = kept.slice(max - 1).map(({ token_id }) => token_id)
  if (excess.length > 0) await tx.q.deleteFrom('device_tokens').where('id', 'in', excess).execute()
  if (yielded.length + excess.length > 0) tx.notify('access', token.user_id, 0)
  return insertToken(tx, token)
}

const insertQuery = prepared<Required<NewToken>, { id: number }>(({ q, p }) =>
  q
    .insertInto('device_tokens')
    .values({
      user_id: p.user_id,
      device_id: p.device_id,
      device_name: p.device_name,
      token_hash: p.token_hash,
      created_at: p.created_at,
      last_used_at: p.last_used_at,
      last_ip: p.last_ip,
      expires_at: p.expires_at,
      allows_code: p.allows_code,
    })
    .returning('id'),
)

export const insertToken = async (tx: Writer, token: NewToken): Promise<number> =>
  (await first(insertQuery(tx, { allows_code: 0, ...token })))!.id

/** Tokens of an account with their own expiry in the future. */
export async function mintedTokens(on: Reader, user: number, now: number): Promise<number> {
  const { count } = await on.q
    .selectFrom('device_tokens')
    .select(({ fn }) => fn.countAll().as('count'))
    .where('user_id', '=', user)
    .where('expires_at', '>', now)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Deletes the tokens of an account with this name and their own expiry, except the `keep` newest. */
export async function trimMintedTokens(tx: Writer, user: number, name: string, keep: number): Promise<void> {
  const rows = await tx.q
    .selectFrom('device_tokens')
    .select('id')
    .where('user_id', '=', user)
    .where('device_name', '=', name)
    .where('expires_at', 'is not', null)
    .orderBy('id', 'desc')
    .execute()
  const excess = rows.slice(keep).map(({ id }) => id)
  if (excess.length === 0) return
  await tx.q.deleteFrom('device_tokens').where('id', 'in', excess).execute()
  tx.notify('access', user, 0)
}

/** Deletes tokens past their own expiry. Returns their number. */
export async function sweepTokens(tx: Writer, now: number): Promise<number> {
  const gone = await tx.q.deleteFrom('device_tokens').where('expires_at', '<=', now).returning('id').execute()
  return gone.length
}

/** Deletes a token of an account; false if the account has none with this ID. */
export async function deleteToken(tx: Writer, user: number, id: number): Promise<boolean> {
  const row = await tx.q
    .deleteFrom('device_tokens')
    .where('id', '=', id)
    .where('user_id', '=', user)
    .returning('id')
    .executeTakeFirst()
  if (row) tx.notify('access', user, 0)
  return row !== undefined
}

/** Deletes all tokens of an account. Returns how many of them were valid. */
export async function deleteTokensOf(tx: Writer, user: number, lifetime: Lifetime): Promise<number> {
  const living = await devicesOf(tx, user, lifetime)
  await tx.q.deleteFrom('device_tokens').where('user_id', '=', user).execute()
  tx.notify('access', user, 0)
  return living.length
}
