import { sql } from 'kysely'
import type { Migration } from './migration.ts'

export const tokenRights: Migration = {
  name: '0007-token-rights',
  statements: ({ integer }) => [sql`alter table device_tokens add column allows_code ${integer} not null default 0`],
}
