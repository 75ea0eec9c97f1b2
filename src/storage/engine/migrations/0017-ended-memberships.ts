import { sql } from 'kysely'
import type { Migration } from './migration.ts'

/** Rooms that accounts left and whose messages their feeds still have. Messages up to `ended_id` are ended in the feed. */
export const endedMemberships: Migration = {
  name: '0017-ended-memberships',
  statements: ({ integer, strict }) => [
    sql`create table ended_memberships (
      user_id ${integer} not null references users (id) on delete cascade,
      room_id ${integer} not null references rooms (id) on delete cascade,
      ended_id ${integer} not null default 0,
      primary key (user_id, room_id)
    ) ${strict}`,
    sql`create index ended_memberships_of_room on ended_memberships (room_id)`,
  ],
}
