import { sql } from 'kysely'
import { countingSchema } from '../data-usage.ts'
import type { Migration } from './migration.ts'

/** Counters of data outside files. */
export const dataUsage: Migration = {
  name: '0009-data-usage',
  statements: (words) => [
    // Author of a deleted message: its record counts until it is deleted too.
    sql`alter table deleted_messages add column user_id ${words.integer}`,
    sql`create index rooms_by_creator on rooms (created_by)`,
    ...countingSchema(words),
  ],
}
