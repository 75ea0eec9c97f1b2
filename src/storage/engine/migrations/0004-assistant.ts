import { sql } from 'kysely'
import type { Migration } from './migration.ts'

/** The assistant: conversations, pending confirmations, token usage, and mentions in rooms. */
export const assistant: Migration = {
  name: '0004-assistant',
  statements: ({ id, integer, text, strict, clustered }) => [
    sql`create table assistant_conversations (
      id ${id},
      user_id ${integer} not null references users (id) on delete cascade,
      title ${text} not null,
      tainted ${integer} not null default 0,
      created_at ${integer} not null,
      updated_at ${integer} not null
    ) ${strict}`,
    sql`create index assistant_conversations_by_user on assistant_conversations (user_id, updated_at)`,

    sql`create table assistant_messages (
      id ${id},
      conversation_id ${integer} not null references assistant_conversations (id) on delete cascade,
      role ${text} not null,
      content ${text} not null,
      actions ${text} not null,
      created_at ${integer} not null
    ) ${strict}`,
    sql`create index assistant_messages_by_conversation on assistant_messages (conversation_id, id)`,

    sql`create table assistant_confirmations (
      id ${text} primary key,
      user_id ${integer} not null references users (id) on delete cascade,
      conversation_id ${integer} not null references assistant_conversations (id) on delete cascade,
      state ${text} not null,
      expires_at ${integer} not null
    ) ${strict}`,
    sql`create index assistant_confirmations_by_user on assistant_confirmations (user_id)`,
    sql`create index assistant_confirmations_by_conversation on assistant_confirmations (conversation_id)`,

    sql`create table assistant_usage (
      user_id ${integer} not null references users (id) on delete cascade,
      day ${integer} not null,
      tokens ${integer} not null,
      primary key (user_id, day)
    ) ${clustered}`,

    // Messages that wait for the assistant, also across restarts.
    sql`create table assistant_mentions (
      message_id ${integer} primary key references messages (id) on delete cascade,
      room_id ${integer} not null references rooms (id) on delete cascade,
      user_id ${integer} not null references users (id) on delete cascade,
      asked_at ${integer} not null,
      tries ${integer} not null default 0,
      name ${text} not null default '',
      working_until ${integer} not null default 0
    ) ${strict}`,
    sql`create index assistant_mentions_by_room on assistant_mentions (room_id)`,
    sql`create index assistant_mentions_by_user on assistant_mentions (user_id)`,

    // The assistant's name in a message that it sent for a user.
    sql`alter table messages add column spoken_by ${text}`,
  ],
}
