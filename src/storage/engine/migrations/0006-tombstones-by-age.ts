import { sql } from 'kysely'
import type { Migration } from './migration.ts'

/** An index to find the oldest tombstones. */
export const tombstonesByAge: Migration = {
  name: '0006-tombstones-by-age',
  statements: () => [
    sql`create index tombstones_by_age on changes (changed_at) where deleted = 1`,
    sql`create index deleted_messages_by_age on deleted_messages (deleted_at)`,
  ],
}
