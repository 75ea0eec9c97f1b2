import { sql } from 'kysely'
import type { Migration } from './migration.ts'

/** Browser sessions, set-up links, the audit log, more of the chat, desktop components and apps. */
export const sessionApi: Migration = {
  name: '0002-session-api',
  statements: ({ id, integer, text, strict }) => [
    sql`create table sessions (
      id ${id},
      user_id ${integer} not null references users (id) on delete cascade,
      token_hash ${text} not null unique,
      created_at ${integer} not null,
      last_used_at ${integer} not null,
      ip ${text} not null,
      user_agent ${text} not null
    ) ${strict}`,
    sql`create index sessions_of_user on sessions (user_id)`,

    sql`create table setup_links (
      token_hash ${text} primary key,
      expires_at ${integer} not null
    ) ${strict}`,

    sql`create table audit (
      id ${id},
      at ${integer} not null,
      kind ${text} not null,
      actor_id ${integer},
      actor ${text} not null,
      target ${text},
      ip ${text},
      user_agent ${text},
      detail ${text}
    ) ${strict}`,
    sql`create index audit_by_time on audit (at)`,
    sql`create index audit_by_actor on audit (actor_id, at)`,

    // A room's files have a root node of their own, created with the first file.
    sql`create unique index nodes_room_root on nodes (room_id) where parent_id is null and room_id is not null`,
    // Time of the latest change of a room. It only increases, so that polls can continue from it without a gap.
    sql`alter table rooms add column stamp ${integer} not null default 0`,
    // The two users of a direct conversation: makes it unique under concurrent requests.
    sql`alter table rooms add column pair ${text}`,
    sql`create unique index rooms_of_pair on rooms (pair) where pair is not null`,
    sql`alter table room_members add column read_at ${integer} not null default 0`,
    sql`alter table room_members add column last_active ${integer} not null default 0`,
    sql`alter table room_members add column typing_until ${integer} not null default 0`,
    sql`alter table users add column last_active ${integer} not null default 0`,
    sql`alter table messages add column is_assistant ${integer} not null default 0`,
    sql`alter table messages add column client_id ${text}`,
    // The content folded to one case, for searches.
    sql`alter table messages add column folded ${text} not null default ''`,
    sql`alter table messages add column changed_at ${integer} not null default 0`,
    sql`create unique index messages_by_client on messages (room_id, user_id, client_id) where client_id is not null`,
    sql`create index messages_changed on messages (room_id, changed_at)`,

    sql`create table deleted_messages (
      message_id ${integer} primary key,
      room_id ${integer} not null references rooms (id) on delete cascade,
      deleted_at ${integer} not null
    ) ${strict}`,
    sql`create index deleted_messages_of_room on deleted_messages (room_id, deleted_at)`,

    sql`create table reactions (
      message_id ${integer} not null references messages (id) on delete cascade,
      user_id ${integer} not null references users (id) on delete cascade,
      emoji ${text} not null,
      created_at ${integer} not null,
      primary key (message_id, emoji, user_id)
    ) ${strict}`,
    sql`create index reactions_of_user on reactions (user_id)`,

    sql`create table components (
      id ${id},
      user_id ${integer} not null references users (id) on delete cascade,
      component_id ${text} not null,
      component_type ${text} not null check (component_type in ('css', 'js', 'widget')),
      code ${text} not null,
      version ${integer} not null,
      is_active ${integer} not null,
      metadata ${text} not null,
      updated_at ${integer} not null,
      unique (user_id, component_id, version)
    ) ${strict}`,
    sql`create unique index components_active on components (user_id, component_id) where is_active = 1`,

    sql`create table component_profiles (
      id ${id},
      user_id ${integer} not null references users (id) on delete cascade,
      name ${text} not null,
      is_default ${integer} not null,
      created_at ${integer} not null
    ) ${strict}`,
    sql`create index component_profiles_of_user on component_profiles (user_id)`,

    // Copies, so that a profile outlives the versions it was made from.
    sql`create table profile_components (
      profile_id ${integer} not null references component_profiles (id) on delete cascade,
      component_id ${text} not null,
      component_type ${text} not null,
      code ${text} not null,
      metadata ${text} not null,
      primary key (profile_id, component_id)
    ) ${strict}`,

    sql`create table apps (
      id ${id},
      slug ${text} not null unique,
      name ${text} not null,
      description ${text} not null,
      icon_url ${text} not null,
      app_path ${text} not null,
      category ${text} not null,
      supports_context ${integer} not null,
      is_system ${integer} not null,
      admin_only ${integer} not null,
      created_by ${integer} references users (id) on delete cascade,
      created_at ${integer} not null,
      updated_at ${integer} not null
    ) ${strict}`,
    sql`create index apps_of_user on apps (created_by)`,
  ],
}
