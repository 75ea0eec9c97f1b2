import { first, prepared, type Reader, type Writer } from '../engine/database.ts'
import { FORMER_USER } from './former-user.ts'
import type { BypassCodeRow, SecondFactorRow, UserRow } from '../engine/tables.ts'

const factorQuery = prepared<{ user: number }, SecondFactorRow>(({ q, p }) =>
  q.selectFrom('second_factors').selectAll().where('user_id', '=', p.user),
)

export const secondFactorOf = (on: Reader, user: number): Promise<SecondFactorRow | undefined> =>
  first(factorQuery(on, { user }))

/** Stores a secret that is not yet enabled. The enabled one and its failures remain. */
export const storePendingSecret = (tx: Writer, user: number, sealed: string, now: number) =>
  tx.q
    .insertInto('second_factors')
    .values({
      user_id: user,
      secret: null,
      pending_secret: sealed,
      pending_at: now,
      enabled_at: null,
      last_step: 0,
      enrolled_step: 0,
      failures: 0,
      locked_until: 0,
      code_salt: null,
    })
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet({ pending_secret: sealed, pending_at: now }))
    .execute()

/** Enables the pending secret. `step` is the TOTP step that confirmed it, which may be used once more, for a login. */
export const enableSecondFactor = (tx: Writer, user: number, sealed: string, step: number, now: number) =>
  tx.q
    .updateTable('second_factors')
    .set({
      secret: sealed,
      pending_secret: null,
      pending_at: null,
      enabled_at: now,
      last_step: step - 1,
      enrolled_step: step,
      failures: 0,
      locked_until: 0,
    })
    .where('user_id', '=', user)
    .execute()

/** Deletes an account's second factor, enabled or pending, with its backup and bypass codes. */
export async function deleteSecondFactor(tx: Writer, user: number): Promise<void> {
  await deleteBypassCode(tx, user)
  await tx.q.deleteFrom('backup_codes').where('user_id', '=', user).execute()
  await tx.q.deleteFrom('second_factors').where('user_id', '=', user).execute()
}

const stepQuery = prepared<{ user: number; step: number }, { user_id: number }>(({ q, p }) =>
  q
    .updateTable('second_factors')
    .set({ last_step: p.step })
    .where('user_id', '=', p.user)
    .where('last_step', '<', p.step)
    .returning('user_id'),
)

/** Consumes a TOTP step; false if it or a later one was used. */
export const takeStep = async (tx: Writer, user: number, step: number): Promise<boolean> =>
  (await first(stepQuery(tx, { user, step }))) !== undefined

const failuresQuery = prepared<{ user: number; failures: number; lockedUntil: number }, unknown>(({ q, p }) =>
  q
    .updateTable('second_factors')
    .set({ failures: p.failures, locked_until: p.lockedUntil })
    .where('user_id', '=', p.user),
)

/** Wrong codes in a row, and the end of the lock in ms since 1970 (0: none). */
export const storeFailures = (tx: Writer, user: number, failures: number, lockedUntil: number) =>
  failuresQuery(tx, { user, failures, lockedUntil })

/** Replaces all backup codes; `hashes` are keyed with `salt`. */
export async function replaceBackupCodes(tx: Writer, user: number, salt: string, hashes: string[]): Promise<void> {
  await tx.q.deleteFrom('backup_codes').where('user_id', '=', user).execute()
  await tx.q.updateTable('second_factors').set({ code_salt: salt }).where('user_id', '=', user).execute()
  await tx.q
    .insertInto('backup_codes')
    .values(hashes.map((hash) => ({ user_id: user, hash })))
    .execute()
}

export const backupCodesOf = (on: Reader, user: number): Promise<{ id: number; hash: string }[]> =>
  on.q.selectFrom('backup_codes').select(['id', 'hash']).where('user_id', '=', user).execute()

/** Consumes a backup code; false if another request did. */
export async function takeBackupCode(tx: Writer, id: number): Promise<boolean> {
  const row = await tx.q.deleteFrom('backup_codes').where('id', '=', id).returning('id').executeTakeFirst()
  return row !== undefined
}

/** Stores the hash of a one-time bypass code in place of the previous one. */
export async function storeBypassCode(tx: Writer, code: BypassCodeRow, salt: string): Promise<void> {
  await tx.q.updateTable('second_factors').set({ code_salt: salt }).where('user_id', '=', code.user_id).execute()
  await tx.q
    .insertInto('bypass_codes')
    .values(code)
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet({ hash: code.hash, expires_at: code.expires_at }))
    .execute()
}

/** The unexpired bypass code of an account. */
export const bypassCodeOf = (on: Reader, user: number, now: number): Promise<BypassCodeRow | undefined> =>
  on.q
    .selectFrom('bypass_codes')
    .selectAll()
    .where('user_id', '=', user)
    .where('expires_at', '>', now)
    .executeTakeFirst()

/** Consumes a bypass code; false if another request did, or it was replaced. */
export async function takeBypassCode(tx: Writer, { user_id, hash }: BypassCodeRow): Promise<boolean> {
  const row = await tx.q
    .deleteFrom('bypass_codes')
    .where('user_id', '=', user_id)
    .where('hash', '=', hash)
    .returning('user_id')
    .executeTakeFirst()
  return row !== undefined
}

export const deleteBypassCode = (tx: Writer, user: number) =>
  tx.q.deleteFrom('bypass_codes').where('user_id', '=', user).execute()

export const sweepBypassCodes = (tx: Writer, now: number) =>
  tx.q.deleteFrom('bypass_codes').where('expires_at', '<=', now).execute()

/** An account and what its login needs beside the password. */
export interface FactorState {
  user_id: number
  username: string
  role: UserRow['role']
  disabled_at: number | null
  /** Null while the second factor is off. */
  enabled_at: number | null
  /** When an unfinished set-up began. */
  pending_at: number | null
  failures: number
  locked_until: number
  backup_codes: number
  /** Expiry of the bypass code, past or future; null if there is none. */
  bypass_until: number | null
}

/** Second factors of all accounts by name, or of one account. */
export async function factorStates(on: Reader, user?: number): Promise<FactorState[]> {
  const rows = await on.q
    .selectFrom('users as u')
    .leftJoin('second_factors as f', 'f.user_id', 'u.id')
    .leftJoin('bypass_codes as b', 'b.user_id', 'u.id')
    .select((eb) => [
      'u.id as user_id',
      'u.username',
      'u.role',
      'u.disabled_at',
      'f.enabled_at',
      'f.pending_at',
      'f.failures',
      'f.locked_until',
      'b.expires_at as bypass_until',
      eb
        .selectFrom('backup_codes as c')
        .select(({ fn }) => fn.countAll().as('count'))
        .whereRef('c.user_id', '=', 'u.id')
        .as('backup_codes'),
    ])
    .where('u.username', '<>', FORMER_USER)
    .$if(user !== undefined, (query) => query.where('u.id', '=', user!))
    .orderBy('u.username')
    .execute()
  return rows.map((row) => ({
    ...row,
    failures: row.failures ?? 0,
    locked_until: row.locked_until ?? 0,
    backup_codes: Number(row.backup_codes),
  }))
}
