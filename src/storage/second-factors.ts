import type { Reader, Writer } from './database.ts'
import type { SecondFactorRow } from './tables.ts'

export const secondFactorOf = (on: Reader, user: number): Promise<SecondFactorRow | undefined> =>
  on.q.selectFrom('second_factors').selectAll().where('user_id', '=', user).executeTakeFirst()

/** Keeps a secret that is not yet in force. What is in force, and how often it was guessed wrong, stays as it is. */
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

/** Puts the pending secret into force; `step` is the one whose code proved it, and may serve once more, for a login. */
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

/** Removes the second factor of an account with its backup codes. */
export async function deleteSecondFactor(tx: Writer, user: number): Promise<void> {
  await tx.q.deleteFrom('backup_codes').where('user_id', '=', user).execute()
  await tx.q.deleteFrom('second_factors').where('user_id', '=', user).execute()
}

/** Takes a TOTP step; false when it, or a later one, was taken before. */
export async function takeStep(tx: Writer, user: number, step: number): Promise<boolean> {
  const row = await tx.q
    .updateTable('second_factors')
    .set({ last_step: step })
    .where('user_id', '=', user)
    .where('last_step', '<', step)
    .returning('user_id')
    .executeTakeFirst()
  return row !== undefined
}

export const storeFailures = (tx: Writer, user: number, failures: number, lockedUntil: number) =>
  tx.q.updateTable('second_factors').set({ failures, locked_until: lockedUntil }).where('user_id', '=', user).execute()

/** Replaces the backup codes of an account. */
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

/** Uses a backup code up; false when somebody else did. */
export async function takeBackupCode(tx: Writer, id: number): Promise<boolean> {
  const row = await tx.q.deleteFrom('backup_codes').where('id', '=', id).returning('id').executeTakeFirst()
  return row !== undefined
}
