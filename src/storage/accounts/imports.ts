import type { ExpressionBuilder } from 'kysely'
import type { Writer } from '../engine/database.ts'
import type { Tables } from '../engine/tables.ts'

/** The mark of an account whose import is not complete, among the records of what seeds created. `version` is its time in ms. */
const UNFINISHED = { kind: 'import', key: 'unfinished' } as const

/** Marks a new account as being imported. */
export const markImport = (tx: Writer, user: number, now: number) =>
  tx.q
    .insertInto('seeded')
    .values({ user_id: user, ...UNFINISHED, hash: '', target: null, version: now })
    .execute()

/** Renews the mark; nothing happens if it is gone. */
export const renewImport = (tx: Writer, user: number, now: number) =>
  tx.q
    .updateTable('seeded')
    .set({ version: now })
    .where('user_id', '=', user)
    .where('kind', '=', UNFINISHED.kind)
    .where('key', '=', UNFINISHED.key)
    .execute()

export const unmarkImport = (tx: Writer, user: number) =>
  tx.q
    .deleteFrom('seeded')
    .where('user_id', '=', user)
    .where('kind', '=', UNFINISHED.kind)
    .where('key', '=', UNFINISHED.key)
    .execute()

/** Selects when the mark was renewed, null for a complete account. */
export const importingAt = (users: ExpressionBuilder<Tables, 'users'>) =>
  users
    .selectFrom('seeded')
    .select('seeded.version')
    .whereRef('seeded.user_id', '=', 'users.id')
    .where('seeded.kind', '=', UNFINISHED.kind)
    .where('seeded.key', '=', UNFINISHED.key)
    .as('importing_at')
