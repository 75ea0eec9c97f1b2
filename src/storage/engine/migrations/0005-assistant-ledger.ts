import { sql } from 'kysely'
import type { Migration } from './migration.ts'

/** Changes of the assistant by answer, with the data to undo them. */
export const assistantLedger: Migration = {
  name: '0005-assistant-ledger',
  statements: ({ id, integer, text, strict }) => [
    // The changes of one answer, or of one undo. They outlive their conversation.
    sql`create table change_sets (
      id ${id},
      user_id ${integer} not null references users (id) on delete cascade,
      conversation_id ${integer},
      undoes ${integer},
      created_at ${integer} not null
    ) ${strict}`,
    sql`create index change_sets_of_user on change_sets (user_id, id)`,
    sql`create index change_sets_by_age on change_sets (created_at)`,
    sql`create table change_set_items (
      id ${id},
      change_set_id ${integer} not null references change_sets (id) on delete cascade,
      kind ${text} not null,
      target ${text} not null,
      data ${text} not null,
      undone_by ${integer}
    ) ${strict}`,
    sql`create index change_set_items_of_set on change_set_items (change_set_id, id)`,
  ],
}
