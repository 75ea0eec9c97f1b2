import { sql } from 'kysely'
import type { Migration } from './migration.ts'

/** Whether the messages of a removed account are kept, as the former user's. */
export const keptMessages: Migration = {
  name: '0011-kept-messages',
  statements: ({ integer }) => [sql`alter table removals add column keeps_messages ${integer} not null default 0`],
}
