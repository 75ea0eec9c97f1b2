import { sql } from 'kysely'
import type { Migration } from './migration.ts'

/** Removal of accounts in slices. */
export const removals: Migration = {
  name: '0010-removals',
  statements: ({ integer, strict }) => [
    // The heir gets the files; may be null. The row is deleted with the account.
    sql`create table removals (
      user_id ${integer} primary key references users (id) on delete cascade,
      heir_id ${integer},
      begun_at ${integer} not null
    ) ${strict}`,
  ],
}
