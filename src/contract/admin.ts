import { backupActions } from './admin-backups.ts'
import { DisplayName } from './account-settings.ts'
import {
  AccountUsage,
  AuditEntry,
  confirmErrors,
  CurrentPassword,
  Finding,
  HandedOver,
  ListedUser,
  MaintenanceState,
  orNull,
  Possessions,
  Quota,
  RegisteredApp,
  TotalUsage,
  UserDetails,
} from './admin-shapes.ts'
import { SLUG } from './slug.ts'
import { action, endpoint, none } from './define.ts'
import { Count, Id, Limit, Ok, Role, Timestamp } from './shapes.ts'
import { Password, Username } from './sync-auth.ts'
import { Type } from './schema.ts'

/** Browser sessions of administrators only: a stolen device token must not be able to take over the server. */
const auth = { session: true, admin: true } as const
const reading = { method: 'GET', auth, limit: 'none' } as const
const changing = { method: 'POST', auth, limit: 'none' } as const

const oneOf = (...choices: string[]) =>
  Type.String({ pattern: `^(${choices.join('|')})$`, description: choices.map((choice) => `\`${choice}\``).join(', ') })
const Moment = (description: string) => Type.String({ minLength: 10, maxLength: 40, description })

const UserId = Type.Integer({ ...Id, description: '`id` of the account, from `users`.' })
const Offset = Type.Optional(Type.Integer({ ...Count, description: 'Number of entries to skip; default 0.' }))
const HeirId = Type.Optional(
  Type.Integer({ ...Id, description: 'User who gets the files. If omitted, they are deleted.' }),
)
const KeepMessages = Type.Optional(
  Type.Boolean({
    description:
      'Whether to keep the messages in rooms with other people, with a former user as author; default false.',
  }),
)
const MessagesKept = Type.Integer({ ...Count, description: 'Number of messages that are kept.' })
const oneUser = Type.Object({ user_id: UserId })
/** Changes to how users sign in require the administrator's password again. */
const confirmed = { user_id: UserId, current_password: CurrentPassword }
const aUser = Type.Object({ ok: Ok, user: ListedUser })
const ended = { sessions_ended: Count, devices_ended: Count }
const slug = Type.Object({ slug: Type.String({ pattern: SLUG.source }) })
const changed = Type.Object({ ok: Ok, changed: Type.Boolean() })

/** Administration by the desktop. */
export const admin = endpoint('/api/admin.php', {
  users: action({
    ...reading,
    summary: 'A page of accounts with their usage and the time they were last seen.',
    params: Type.Object({
      search: Type.Optional(
        Type.String({ minLength: 1, maxLength: 100, description: 'Part of the user name or display name.' }),
      ),
      role: Type.Optional(oneOf('admin', 'user')),
      state: Type.Optional(oneOf('enabled', 'disabled', 'locked')),
      without_2fa: Type.Optional(Type.Boolean({ description: 'Only those without a second factor.' })),
      inactive_days: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 36_500, description: 'Only accounts not seen for this many days.' }),
      ),
      sort: Type.Optional(oneOf('name', 'used', 'percent', 'seen', 'created')),
      reverse: Type.Optional(Type.Boolean({ description: 'Reverse the order; default false.' })),
      limit: Type.Optional(Limit(100, 1_000)),
      offset: Offset,
    }),
    result: Type.Object({
      ok: Ok,
      users: Type.Array(ListedUser),
      total: Type.Integer({ description: 'Number of accounts that match the filters.' }),
    }),
    errors: [],
    example: { search: 'a', sort: 'seen', limit: 50 },
  }),
  user: action({
    ...reading,
    summary: 'One account with its second factor, sessions and devices.',
    params: oneUser,
    result: Type.Object({ ok: Ok, user: UserDetails }),
    errors: ['not_found'],
    example: { user_id: 1 },
  }),
  create_user: action({
    ...changing,
    summary: 'Create an account. `current_password` is required for an administrator.',
    status: 201,
    params: Type.Object({
      username: Username,
      password: Password,
      display_name: Type.Optional(DisplayName),
      role: Type.Optional(Role),
      quota_bytes: Type.Optional(Quota),
      current_password: Type.Optional(CurrentPassword),
    }),
    result: aUser,
    errors: ['exists', ...confirmErrors],
    example: { username: 'grace', password: 'difference engine', display_name: 'Grace Hopper' },
  }),
  update_user: action({
    ...changing,
    summary:
      'Change the name or the quota of an account. `quota_is_default` without `quota_bytes` sets the default quota.',
    params: Type.Object({
      user_id: Id,
      display_name: Type.Optional(DisplayName),
      quota_bytes: Type.Optional(Quota),
      quota_is_default: Type.Optional(Type.Boolean()),
    }),
    result: aUser,
    errors: ['not_found', 'conflict'],
    example: { user_id: 1, quota_bytes: 10_737_418_240 },
  }),
  set_role: action({
    ...changing,
    summary: 'Change the role of another user. Ends their sessions. The last administrator keeps the role.',
    limit: 'settings_change',
    cost: 20,
    params: Type.Object({ ...confirmed, role: Role }),
    result: Type.Object({ ok: Ok, user: ListedUser, sessions_ended: Count }),
    errors: ['not_found', 'conflict', ...confirmErrors],
    example: { user_id: 1, role: 'admin', current_password: 'analytical engine' },
  }),
  set_password: action({
    ...changing,
    summary:
      'Set the password of another user. Ends their sessions and, unless `keep_devices` is true, revokes their devices.',
    limit: 'settings_change',
    cost: 20,
    params: Type.Object({
      ...confirmed,
      password: Password,
      keep_devices: Type.Optional(Type.Boolean({ description: 'Whether their devices stay signed in.' })),
    }),
    result: Type.Object({ ok: Ok, ...ended }),
    errors: ['not_found', 'conflict', ...confirmErrors],
    example: { user_id: 1, password: 'difference engine', current_password: 'analytical engine' },
  }),
  disable_user: action({
    ...changing,
    summary:
      'Disable an account, end its sessions and revoke its devices. Files and rows stay. Refused for your own account, the last administrator, and an account whose import is not complete.',
    params: oneUser,
    result: Type.Object({ ok: Ok, user: ListedUser, ...ended }),
    errors: ['not_found', 'conflict'],
    example: { user_id: 1 },
  }),
  enable_user: action({
    ...changing,
    summary: 'Enable a disabled account. Refused until its import is complete.',
    params: oneUser,
    result: aUser,
    errors: ['not_found', 'conflict'],
    example: { user_id: 1 },
  }),
  unlock_user: action({
    ...changing,
    summary: 'End the locks after too many wrong passwords and codes.',
    params: oneUser,
    result: Type.Object({ ok: Ok, user: ListedUser, was_locked: Type.Boolean() }),
    errors: ['not_found', 'conflict'],
    example: { user_id: 1 },
  }),
  reset_2fa: action({
    ...changing,
    summary: 'Remove the second factor of another user with all its codes. Ends their sessions.',
    limit: 'settings_change',
    cost: 20,
    params: Type.Object(confirmed),
    result: Type.Object({
      ok: Ok,
      was: Type.Union([Type.Literal('on'), Type.Literal('set_up'), Type.Literal('off')], {
        description: '`set_up`: an unfinished set-up was removed. `off`: nothing changed.',
      }),
      sessions_ended: Count,
    }),
    errors: ['not_found', 'conflict', ...confirmErrors],
    example: { user_id: 1, current_password: 'analytical engine' },
  }),
  bypass_2fa: action({
    ...changing,
    summary: 'Issue a one-time code that replaces the second factor of another user.',
    limit: 'settings_change',
    cost: 20,
    params: Type.Object({
      ...confirmed,
      minutes: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 1_440, description: 'Validity in minutes; default 10.' }),
      ),
    }),
    result: Type.Object({
      ok: Ok,
      code: Type.String({ description: 'Shown only now.' }),
      expires_at: Timestamp,
    }),
    errors: ['not_found', 'conflict', ...confirmErrors],
    example: { user_id: 1, minutes: 30, current_password: 'analytical engine' },
  }),
  sign_out: action({
    ...changing,
    summary: 'End the sessions of an account. `devices` revokes its devices too. The calling session stays.',
    params: Type.Object({ user_id: UserId, devices: Type.Optional(Type.Boolean()) }),
    result: Type.Object({ ok: Ok, ...ended }),
    errors: ['not_found'],
    example: { user_id: 1, devices: true },
  }),
  removal: action({
    ...reading,
    summary: 'Preview of a removal: what would be deleted, and what the user in `files_to` would get.',
    params: Type.Object({ user_id: UserId, files_to: HeirId, keep_messages: KeepMessages }),
    result: Type.Object({ ok: Ok, has: Possessions, messages_kept: MessagesKept, hands_over: orNull(HandedOver) }),
    errors: ['not_found', 'conflict', 'bad_request'],
    example: { user_id: 1 },
  }),
  remove_user: action({
    ...changing,
    summary:
      'Remove an account permanently. `files_to` names the user who gets its files; `keep_messages` keeps its messages. Refused for your own account and the last administrator.',
    limit: 'settings_change',
    cost: 20,
    params: Type.Object({ ...confirmed, files_to: HeirId, keep_messages: KeepMessages }),
    result: Type.Object({ ok: Ok, had: Possessions, messages_kept: MessagesKept, handed_over: orNull(HandedOver) }),
    errors: ['not_found', 'conflict', ...confirmErrors],
    example: { user_id: 1, current_password: 'analytical engine' },
  }),
  usage: action({
    ...reading,
    summary: 'Usage, quota and growth of accounts: one page, and the totals of all.',
    params: Type.Object({
      sort: Type.Optional(oneOf('used', 'name', 'percent', 'growth')),
      over: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 1_000_000,
          description: 'Only accounts that use at least this percentage of their quota.',
        }),
      ),
      limit: Type.Optional(Limit(100, 1_000)),
      offset: Offset,
    }),
    result: Type.Object({
      ok: Ok,
      accounts: Type.Array(AccountUsage),
      matching: Count,
      total: TotalUsage,
      default_quota_bytes: Quota,
      disk: Type.Object({ free_bytes: Count, total_bytes: Count }),
    }),
    errors: [],
    example: { sort: 'percent', over: 80 },
  }),
  set_default_quota: action({
    ...changing,
    summary: 'Set the default quota of accounts.',
    params: Type.Object({ quota_bytes: Quota }),
    result: Type.Object({ ok: Ok, default_quota_bytes: Quota }),
    errors: ['conflict'],
    example: { quota_bytes: 1_099_511_627_776 },
  }),
  maintenance: action({
    ...reading,
    summary: 'State of maintenance mode, with its end and message.',
    params: none,
    result: Type.Object({ ok: Ok, ...MaintenanceState }),
    errors: [],
    example: {},
  }),
  begin_maintenance: action({
    ...changing,
    summary:
      'Start maintenance: only administrators can use the service, or, with `read_only`, change anything. Without `read_only`, all sessions end, including the calling one.',
    params: Type.Object({
      read_only: Type.Boolean(),
      message: Type.Optional(Type.String({ maxLength: 2_000, description: 'At most 500 characters on one line.' })),
      until: Type.Optional(Moment('ISO 8601, in the future; without it, until it is ended.')),
    }),
    result: Type.Object({ ok: Ok, ...MaintenanceState, was_on: Type.Boolean(), sessions_ended: Count }),
    errors: [],
    example: { read_only: true, message: 'Back after tea.' },
  }),
  end_maintenance: action({
    ...changing,
    summary: 'End maintenance.',
    params: none,
    result: Type.Object({ ok: Ok, was_on: Type.Boolean() }),
    errors: [],
    example: {},
  }),
  ...backupActions,
  doctor: action({
    ...reading,
    summary: 'Results of all checks of the installation, with remedies.',
    params: none,
    result: Type.Object({ ok: Ok, checks: Type.Array(Finding) }),
    errors: [],
    example: {},
  }),
  audit: action({
    ...reading,
    summary: 'A page of the audit log, newest first. Entries are kept for a year.',
    params: Type.Object({
      user: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 200,
          description: 'User name of the actor or of the affected account.',
        }),
      ),
      kinds: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 1_000,
          description: 'Kinds, separated by commas. `login.*` matches all kinds with this prefix.',
        }),
      ),
      since: Type.Optional(Moment('ISO 8601: not before.')),
      until: Type.Optional(Moment('ISO 8601: before.')),
      after: Type.Optional(
        Type.String({ pattern: '^\\d{1,15}-\\d{1,15}$', description: '`next` of the previous page.' }),
      ),
      limit: Type.Optional(Limit(100, 1_000)),
    }),
    result: Type.Object({
      ok: Ok,
      entries: Type.Array(AuditEntry),
      next: orNull(Type.String(), 'Where the next page begins; null on the last one.'),
    }),
    errors: [],
    example: { kinds: 'login.*,user.created', limit: 20 },
  }),
  apps: action({
    ...reading,
    summary: 'All apps: system apps, added and installed ones, and custom apps of users.',
    params: none,
    result: Type.Object({ ok: Ok, apps: Type.Array(RegisteredApp) }),
    errors: [],
    example: {},
  }),
  enable_app: action({
    ...changing,
    summary: 'Enable a disabled app.',
    params: slug,
    result: changed,
    errors: ['not_found', 'conflict'],
    example: { slug: 'places' },
  }),
  disable_app: action({
    ...changing,
    summary: 'Disable an app for all users immediately. Refused for Administration.',
    params: slug,
    result: changed,
    errors: ['not_found', 'conflict'],
    example: { slug: 'places' },
  }),
})
