import { sql } from 'kysely'
import type { Migration } from './migration.ts'

/** Large rooms, whose changes each member's feed takes over later. Null: they are entered in every feed at once. */
export const roomFeeds: Migration = {
  name: '0016-room-feeds',
  statements: ({ integer }) => [
    sql`alter table rooms add column feed_stamp ${integer}`,
    sql`alter table rooms add column renamed_at ${integer} not null default 0`,
    sql`alter table room_members add column feed_stamp ${integer} not null default 0`,
  ],
}
