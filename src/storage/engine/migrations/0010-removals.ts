import { sql } from 'kysely'
import type { Migration } from './migration.ts'

/** Accounts that are being removed, slice by slice. */
export const removals: Migration = {
  name: '0010-removals',
  statements: ({ integer, strict }) => [
    // The heir gets the files; null when nobody does. The row goes with the account's own.
    sql`create table removals (
      user_id ${integer} primary key references users (id) on delete cascade,
      heir_id ${integer},
      begun_at ${integer} not null
    ) ${strict}`,
  ],
}
