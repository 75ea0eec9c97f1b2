import { sql } from 'kysely'
import { countingSchema } from '../data-usage.ts'
import type { Migration } from './migration.ts'

/** What accounts keep in the database is counted as it changes. */
export const dataUsage: Migration = {
  name: '0009-data-usage',
  statements: (words) => [
    // Whose deleted messages are remembered: these count too, until they are forgotten.
    sql`alter table deleted_messages add column user_id ${words.integer}`,
    sql`create index rooms_by_creator on rooms (created_by)`,
    ...countingSchema(words),
  ],
}
