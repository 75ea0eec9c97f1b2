import { sql } from 'kysely'
import type { Migration } from './migration.ts'

/**
 * Accounts, files, the change feed and chat rooms. Synchronised tables are created from their declarations (`rows.ts`).
 */
export const initial: Migration = {
  name: '0001-initial',
  statements: ({ id, integer, text, bytes, strict, clustered }) => [
    sql`create table settings (key ${text} primary key, value ${text} not null) ${strict}`,

    sql`create table users (
      id ${id},
      username ${text} not null unique,
      display_name ${text} not null,
      avatar_color ${text} not null,
      role ${text} not null check (role in ('admin', 'user')),
      password_hash ${text} not null,
      quota_bytes ${integer},
      disabled_at ${integer},
      last_login_at ${integer},
      created_at ${integer} not null,
      updated_at ${integer} not null
    ) ${strict}`,

    sql`create table second_factors (
      user_id ${integer} primary key references users (id) on delete cascade,
      secret ${text},
      pending_secret ${text},
      pending_at ${integer},
      enabled_at ${integer},
      last_step ${integer} not null default 0,
      enrolled_step ${integer} not null default 0,
      failures ${integer} not null default 0,
      locked_until ${integer} not null default 0,
      code_salt ${text}
    ) ${strict}`,

    sql`create table backup_codes (
      id ${id},
      user_id ${integer} not null references users (id) on delete cascade,
      hash ${text} not null
    ) ${strict}`,
    sql`create index backup_codes_of_user on backup_codes (user_id)`,

    sql`create table device_tokens (
      id ${id},
      user_id ${integer} not null references users (id) on delete cascade,
      device_id ${text} not null,
      device_name ${text} not null,
      token_hash ${text} not null unique,
      created_at ${integer} not null,
      last_used_at ${integer},
      last_ip ${text},
      expires_at ${integer},
      unique (user_id, device_id)
    ) ${strict}`,

    sql`create table pending_logins (
      id ${id},
      kind ${text} not null check (kind in ('sync', 'session')),
      token_hash ${text} not null unique,
      user_id ${integer} not null references users (id) on delete cascade,
      device_id ${text},
      device_name ${text},
      tries ${integer} not null default 0,
      expires_at ${integer} not null
    ) ${strict}`,
    sql`create index pending_logins_of_user on pending_logins (user_id)`,

    sql`create table login_throttles (
      name_hash ${text} primary key,
      failed_at ${text} not null,
      locked_until ${integer} not null,
      expires_at ${integer} not null
    ) ${strict}`,
    sql`create index login_throttles_by_age on login_throttles (expires_at)`,

    sql`create table contents (
      sha256 ${text} primary key,
      size ${integer} not null,
      data ${bytes},
      touched_at ${integer} not null
    ) ${strict}`,

    sql`create table rooms (
      id ${id},
      name ${text} not null,
      type ${text} not null check (type in ('channel', 'dm')),
      created_by ${integer} not null,
      version ${integer} not null default 1,
      created_at ${integer} not null,
      updated_at ${integer} not null
    ) ${strict}`,

    sql`create table nodes (
      id ${id},
      user_id ${integer} not null references users (id) on delete cascade,
      parent_id ${integer} references nodes (id) on delete cascade,
      room_id ${integer} references rooms (id) on delete cascade,
      name ${text} not null,
      name_key ${text} not null,
      type ${text} not null check (type in ('file', 'directory')),
      sha256 ${text} references contents (sha256),
      size ${integer} not null default 0,
      mtime ${integer} not null,
      version ${integer} not null default 1,
      created_at ${integer} not null,
      updated_at ${integer} not null,
      trash_id ${integer},
      check ((type = 'file') = (sha256 is not null))
    ) ${strict}`,
    sql`create unique index nodes_by_name on nodes (parent_id, name_key, (coalesce(trash_id, 0)))`,
    sql`create unique index nodes_root on nodes (user_id) where parent_id is null and room_id is null`,
    sql`create index nodes_of_user on nodes (user_id, type, id)`,
    sql`create index nodes_of_room on nodes (room_id) where room_id is not null`,
    sql`create index nodes_by_trash on nodes (trash_id) where trash_id is not null`,
    sql`create index nodes_by_content on nodes (sha256) where sha256 is not null`,

    sql`create table versions (
      id ${id},
      node_id ${integer} not null references nodes (id) on delete cascade,
      user_id ${integer} not null references users (id) on delete cascade,
      sha256 ${text} not null references contents (sha256),
      size ${integer} not null,
      mtime ${integer} not null,
      version ${integer} not null,
      replaced_at ${integer} not null
    ) ${strict}`,
    sql`create index versions_of_node on versions (node_id)`,
    sql`create index versions_of_user on versions (user_id)`,
    sql`create index versions_by_age on versions (replaced_at)`,
    sql`create index versions_by_content on versions (sha256)`,

    sql`create table trash (
      id ${id},
      user_id ${integer} not null references users (id) on delete cascade,
      node_id ${integer} not null references nodes (id) on delete cascade,
      path ${text} not null,
      deleted_at ${integer} not null
    ) ${strict}`,
    sql`create index trash_of_user on trash (user_id)`,
    sql`create index trash_of_node on trash (node_id)`,
    sql`create index trash_by_age on trash (deleted_at)`,

    sql`create table counters (
      user_id ${integer} primary key references users (id) on delete cascade,
      seq ${integer} not null default 0,
      oldest ${integer} not null default 0,
      used_bytes ${integer} not null default 0
    ) ${strict}`,

    sql`create table changes (
      user_id ${integer} not null references users (id) on delete cascade,
      tbl ${text} not null,
      row_id ${integer} not null,
      seq ${integer} not null,
      born ${integer} not null,
      deleted ${integer} not null,
      changed_at ${integer} not null,
      primary key (user_id, tbl, row_id)
    ) ${clustered}`,
    sql`create index changes_in_order on changes (user_id, seq, tbl, row_id, born, deleted)`,

    sql`create table pushed_operations (
      user_id ${integer} not null references users (id) on delete cascade,
      op_id ${text} not null,
      payload_hash ${text} not null,
      result ${text} not null,
      created_at ${integer} not null,
      primary key (user_id, op_id)
    ) ${strict}`,
    sql`create index pushed_operations_by_age on pushed_operations (created_at)`,

    sql`create table idempotency_keys (
      user_id ${integer} not null references users (id) on delete cascade,
      key ${text} not null,
      payload_hash ${text} not null,
      answer ${text} not null,
      created_at ${integer} not null,
      primary key (user_id, key)
    ) ${strict}`,
    sql`create index idempotency_keys_by_age on idempotency_keys (created_at)`,

    sql`create table room_members (
      room_id ${integer} not null references rooms (id) on delete cascade,
      user_id ${integer} not null references users (id) on delete cascade,
      joined_at ${integer} not null,
      primary key (room_id, user_id)
    ) ${strict}`,
    sql`create index room_members_by_user on room_members (user_id)`,

    sql`create table messages (
      id ${id},
      room_id ${integer} not null references rooms (id) on delete cascade,
      user_id ${integer} not null references users (id) on delete cascade,
      content ${text} not null,
      timestamp ${integer} not null,
      edited_at ${integer},
      reply_to ${integer},
      version ${integer} not null default 1
    ) ${strict}`,
    sql`create unique index messages_in_order on messages (room_id, timestamp)`,
    sql`create index messages_of_user on messages (user_id)`,
  ],
}
