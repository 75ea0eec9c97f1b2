import { sql } from 'kysely'
import type { Migration } from './migration.ts'

/** Administration: bypass codes, usage history, app releases, collector holds, seeded rows. */
export const administration: Migration = {
  name: '0003-administration',
  statements: ({ id, integer, text, strict, clustered }) => [
    // A code from an administrator that replaces the second factor for one login.
    sql`create table bypass_codes (
      user_id ${integer} primary key references users (id) on delete cascade,
      hash ${text} not null,
      expires_at ${integer} not null
    ) ${strict}`,

    // Usage of an account at the end of a day, counted in days since 1970-01-01 UTC.
    sql`create table usage_history (
      user_id ${integer} not null references users (id) on delete cascade,
      day ${integer} not null,
      used_bytes ${integer} not null,
      primary key (user_id, day)
    ) ${strict}`,

    // Installed apps: each release keeps its files, so that the previous one can be restored.
    sql`create table app_releases (
      id ${id},
      app_id ${integer} not null references apps (id) on delete cascade,
      version ${text} not null,
      sha256 ${text} not null,
      manifest ${text} not null,
      is_current ${integer} not null,
      installed_at ${integer} not null
    ) ${strict}`,
    sql`create unique index app_releases_current on app_releases (app_id) where is_current = 1`,
    sql`create table app_files (
      release_id ${integer} not null references app_releases (id) on delete cascade,
      path ${text} not null,
      sha256 ${text} not null,
      size ${integer} not null,
      primary key (release_id, path)
    ) ${strict}`,
    sql`create index app_files_by_content on app_files (sha256)`,

    // Indexes of the audit log by kind, actor and target, each in the order of time.
    sql`create index audit_by_kind on audit (kind, at)`,
    sql`create index audit_by_name on audit (actor, at)`,
    sql`create index audit_by_target on audit (target, at)`,

    // No content is collected while one of these exists: a backup is copying them.
    sql`create table collector_holds (
      id ${text} primary key,
      expires_at ${integer} not null
    ) ${strict}`,

    // What a seed created, by its name in the seed: the next run finds it again, and detects changes made since.
    sql`create table seeded (
      user_id ${integer} not null references users (id) on delete cascade,
      kind ${text} not null,
      key ${text} not null,
      hash ${text} not null,
      target ${integer},
      version ${integer},
      primary key (user_id, kind, key)
    ) ${clustered}`,
  ],
}
