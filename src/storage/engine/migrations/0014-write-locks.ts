import { sql } from 'kysely'
import type { Migration } from './migration.ts'

/** Rows that stand for what accounts share, to be locked in one order; only on Postgres they are used. */
export const writeLocks: Migration = {
  name: '0014-write-locks',
  statements: ({ integer, strict }) => [sql`create table write_locks (key ${integer} primary key) ${strict}`],
}
