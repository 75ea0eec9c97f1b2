import type { TSchema } from 'typebox'
import { Count, Id, Role, Timestamp, User } from './shapes.ts'
import { Type } from './schema.ts'

// Results of administrative actions. `description` appears in the API reference.

export const orNull = <T extends TSchema>(schema: T, description?: string) =>
  Type.Union([schema, Type.Null()], description === undefined ? {} : { description })

export const When = orNull(Timestamp)
const Bytes = Count

export const Quota = orNull(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }), 'Bytes; null for no limit.')
const IsDefault = Type.Boolean({
  description: 'Whether this is the default quota.',
})

export const ListedUser = Type.Object({
  ...User.properties,
  avatar_color: Type.String(),
  role: Role,
  state: Type.Union(
    [
      Type.Literal('active'),
      Type.Literal('disabled'),
      Type.Literal('importing'),
      Type.Literal('locked'),
      Type.Literal('removing'),
    ],
    {
      description:
        '`importing` until the import of the account is complete, `locked` after too many wrong passwords or codes, `removing` while the account is being removed.',
    },
  ),
  locked_until: orNull(Timestamp, 'End of the lock after wrong passwords.'),
  codes_locked_until: orNull(Timestamp, 'End of the lock after wrong codes.'),
  codes_closed: Type.Boolean({ description: 'Whether only an administrator can end the lock after wrong codes.' }),
  used_bytes: Bytes,
  quota_bytes: Quota,
  quota_is_default: IsDefault,
  quota_percent: orNull(Count, 'Whole percent in use; null without a limit.'),
  device_count: Count,
  session_count: Count,
  two_factor: Type.Boolean(),
  last_seen_at: When,
  last_login_at: When,
  created_at: Timestamp,
})

export const UserDetails = Type.Object({
  ...ListedUser.properties,
  room_count: Count,
  two_factor_since: When,
  backup_codes_left: Count,
  bypass_until: orNull(Timestamp, 'Until when a bypass code of an administrator replaces the second factor.'),
  sessions: Type.Array(
    Type.Object({ created_at: Timestamp, last_used_at: Timestamp, ip: Type.String(), user_agent: Type.String() }),
  ),
  devices: Type.Array(
    Type.Object({
      device_id: Type.String(),
      device_name: Type.String(),
      created_at: Timestamp,
      last_used_at: When,
      last_ip: orNull(Type.String()),
    }),
  ),
})

/** The data of an account, deleted with it. */
export const Possessions = Type.Object({
  files: Count,
  folders: Count,
  bytes: Bytes,
  trash: Count,
  rows: Count,
  messages: Count,
  room_files: Count,
  room_bytes: Bytes,
  rooms: Count,
  rooms_alone: Count,
  devices: Count,
  sessions: Count,
})

/** Files that an account takes over, or would take over, from a removed one. */
export const HandedOver = Type.Object({
  username: Type.String(),
  folder: orNull(Type.String(), 'The folder with the files; null when there were none.'),
  used_bytes: Bytes,
  quota_bytes: Quota,
})

/** Data in the database by kind; each kind has its own limit. */
const DataBytes = { rows_bytes: Bytes, chat_bytes: Bytes, components_bytes: Bytes, assistant_bytes: Bytes }

export const AccountUsage = Type.Object({
  user_id: Id,
  username: Type.String(),
  used_bytes: Type.Integer({ description: 'Bytes that count towards the quota.' }),
  quota_bytes: Quota,
  quota_is_default: IsDefault,
  percent: orNull(Count),
  files: Count,
  own_bytes: Bytes,
  room_bytes: Bytes,
  trash_bytes: Bytes,
  versions_bytes: Bytes,
  ...DataBytes,
  growth: orNull(Type.Integer(), 'Bytes a day over the last 30 days; null without enough history.'),
  full_in_days: orNull(Count, 'Null where that is not in sight.'),
})

export const TotalUsage = Type.Object({
  accounts: Count,
  used_bytes: Type.Integer(),
  own_bytes: Bytes,
  room_bytes: Bytes,
  files: Count,
  trash_bytes: Bytes,
  versions_bytes: Bytes,
  ...DataBytes,
  growth: orNull(Type.Integer()),
})

export const MaintenanceState = {
  maintenance: Type.Boolean(),
  read_only: Type.Boolean({ description: 'Everyone can read; only administrators can change anything.' }),
  message: Type.String(),
  until: orNull(Timestamp, 'When it ends by itself; null for never.'),
}

export const CurrentPassword = Type.String({
  minLength: 1,
  maxLength: 1_024,
  description: 'Password of the caller. A wrong one counts as a failed login.',
})
export const confirmErrors = ['invalid_credentials', 'account_locked', 'busy'] as const

/** Settings with a value from outside the database, which cannot be changed in the browser. */
const FixedSettings = Type.Array(
  Type.Object({
    setting: Type.String(),
    by: Type.String({ description: 'An environment variable, `config.json` or `svc serve`.' }),
  }),
  { description: 'Settings that are fixed by the operator of the server.' },
)

/** Numbers of backups that are kept. */
export const Keep = Type.Object({ last: Count, daily: Count, weekly: Count, monthly: Count })

const MadeBackup = Type.Object({ id: Type.String(), at: Timestamp, place: Type.String() })

export const BackupJob = Type.Object({
  job: Type.Union([Type.Literal('create'), Type.Literal('verify'), Type.Literal('drill')]),
  state: Type.Union(
    [
      Type.Literal('running'),
      Type.Literal('stopping'),
      Type.Literal('succeeded'),
      Type.Literal('warning'),
      Type.Literal('failed'),
      Type.Literal('stopped'),
      Type.Literal('interrupted'),
    ],
    {
      description: '`warning`: done, but see `messages`. `interrupted`: the server that ran it ended without a result.',
    },
  ),
  by: Type.String({ description: 'User name of the administrator who started it.' }),
  started_at: Timestamp,
  ended_at: When,
  done_bytes: Bytes,
  total_bytes: orNull(Bytes, 'Null while it is unknown.'),
  backup: orNull(Type.String(), 'The backup that was created or checked.'),
  messages: Type.Array(Type.String(), { description: 'What the command said about warnings and errors, in English.' }),
})

export const BackupsState = {
  schedule: orNull(Type.String(), 'Five fields as for cron, in the time zone of the server; null for none.'),
  place: orNull(Type.String(), 'Folder of the backups.'),
  paused: Type.Boolean({ description: 'Whether the schedule is paused because this installation was restored.' }),
  next_at: When,
  overdue: Type.Boolean({ description: 'Whether a scheduled backup is late by an hour or more.' }),
  in_future: Type.Boolean({ description: 'Whether the last backup is dated in the future: a clock was wrong.' }),
  last: orNull(MadeBackup),
  failed: orNull(
    Type.Object({ at: Timestamp, place: Type.String(), message: Type.String() }),
    'The last failure, if no backup was made since.',
  ),
  proven: orNull(MadeBackup, 'The last one that was restored as a drill and found complete.'),
  keep: Keep,
  fixed: FixedSettings,
  stored: Type.Array(
    Type.Object({
      id: Type.String(),
      created_at: Timestamp,
      version: Type.String(),
      accounts: Count,
      files: Count,
      bytes: Bytes,
      added_bytes: Bytes,
    }),
    { description: 'The newest backups, at most 50.' },
  ),
  stored_count: Count,
  trouble: orNull(Type.String(), 'Why the folder cannot be read.'),
  stream: orNull(
    Type.Object({
      place: Type.String(),
      at: orNull(Timestamp, 'Until when changes are stored.'),
      running: Type.Boolean(),
      problem: orNull(Type.String()),
    }),
    'The stream of changes to the backups; null if none runs on the machine of this server.',
  ),
}

export const Finding = Type.Object({
  id: Type.String({ description: 'Stable across versions.' }),
  summary: Type.String({ description: 'What the check verifies.' }),
  health: Type.Union([Type.Literal('ok'), Type.Literal('warning'), Type.Literal('failure')]),
  found: Type.String(),
  remedy: orNull(Type.String()),
})

export const AuditEntry = Type.Object({
  entry_id: Id,
  at: Timestamp,
  kind: Type.String(),
  actor: Type.String({ description: 'A user name, `system`, `anonymous`, or `cli:` with the user who ran a command.' }),
  target: orNull(Type.String(), 'The account it happened to.'),
  ip: orNull(Type.String()),
  user_agent: orNull(Type.String()),
  detail: Type.Array(Type.Object({ name: Type.String(), value: Type.String() })),
})

export const RegisteredApp = Type.Object({
  slug: Type.String(),
  name: Type.String(),
  source: Type.Union([
    Type.Literal('system'),
    Type.Literal('added'),
    Type.Literal('installed'),
    Type.Literal('custom'),
  ]),
  owner: orNull(Type.String(), 'Who made a custom app.'),
  version: orNull(Type.String()),
  admin_only: Type.Boolean(),
  disabled: Type.Boolean(),
})
