import { sql } from 'kysely'
import type { Migration } from './migration.ts'

/** Work on large trees in several transactions, and indexes for limits of accounts. */
export const bounds: Migration = {
  name: '0008-bounds',
  statements: ({ integer, text }) => [
    // The remaining work on the nodes below an entry; see `tree-jobs.ts`.
    sql`alter table trash add column state ${text} not null default 'kept'`,
    sql`alter table trash add column proceeded_at ${integer} not null default 0`,
    sql`create index trash_unfinished on trash (user_id) where state <> 'kept'`,
    // The sizes of a trash entry and of an account's history are computed from these indexes alone.
    sql`create index nodes_of_trash on nodes (trash_id, user_id, size) where trash_id is not null`,
    sql`drop index nodes_by_trash`,
    sql`create index nodes_in_trash on nodes (user_id, trash_id, size) where trash_id is not null`,
    sql`create index versions_by_owner on versions (user_id, id, size)`,
    sql`drop index versions_of_user`,
  ],
}
