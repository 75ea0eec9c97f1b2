import { Type } from 'typebox'
import { DisplayName } from './account-settings.ts'
import {
  AccountUsage,
  AuditEntry,
  BackupsState,
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

/** Browser sessions of administrators only: a device token cannot take a server over. */
const auth = { session: true, admin: true } as const
const reading = { method: 'GET', auth, limit: 'none' } as const
const changing = { method: 'POST', auth, limit: 'none' } as const

const oneOf = (...choices: string[]) =>
  Type.String({ pattern: `^(${choices.join('|')})$`, description: choices.map((choice) => `\`${choice}\``).join(', ') })
const Moment = (description: string) => Type.String({ minLength: 10, maxLength: 40, description })
const CurrentPassword = Type.String({
  minLength: 1,
  maxLength: 1_024,
  description: 'The password of whoever asks; a wrong one counts like a failed login.',
})

const UserId = Type.Integer({ ...Id, description: '`id` that `users` tells of the account.' })
const Offset = Type.Optional(
  Type.Integer({ ...Count, description: 'How many to leave out at the beginning; default 0.' }),
)
const HeirId = Type.Optional(
  Type.Integer({ ...Id, description: 'The user who gets the files; without one they are removed.' }),
)
const KeepMessages = Type.Optional(
  Type.Boolean({
    description:
      'Whether messages stay in the rooms that others are in, with a former user as their author; default false.',
  }),
)
const MessagesKept = Type.Integer({ ...Count, description: 'How many of the messages stay.' })
const oneUser = Type.Object({ user_id: UserId })
/** What gives or takes the ways into an account asks for the administrator's password once more. */
const confirmed = { user_id: UserId, current_password: CurrentPassword }
const confirmErrors = ['invalid_credentials', 'account_locked', 'busy'] as const
const aUser = Type.Object({ ok: Ok, user: ListedUser })
const ended = { sessions_ended: Count, devices_ended: Count }
const slug = Type.Object({ slug: Type.String({ pattern: SLUG.source }) })
const changed = Type.Object({ ok: Ok, changed: Type.Boolean() })

/** What administrators look after in a browser. */
export const admin = endpoint('/api/admin.php', {
  users: action({
    ...reading,
    summary: 'Accounts with what they use and when they were last seen, a page at a time.',
    params: Type.Object({
      search: Type.Optional(
        Type.String({ minLength: 1, maxLength: 100, description: 'In user name or display name.' }),
      ),
      role: Type.Optional(oneOf('admin', 'user')),
      state: Type.Optional(oneOf('enabled', 'disabled', 'locked')),
      without_2fa: Type.Optional(Type.Boolean({ description: 'Only those without a second factor.' })),
      inactive_days: Type.Optional(Type.Integer({ minimum: 1, maximum: 36_500, description: 'Not seen for so long.' })),
      sort: Type.Optional(oneOf('name', 'used', 'percent', 'seen', 'created')),
      reverse: Type.Optional(Type.Boolean({ description: 'The other way round; default false.' })),
      limit: Type.Optional(Limit(100, 1_000)),
      offset: Offset,
    }),
    result: Type.Object({
      ok: Ok,
      users: Type.Array(ListedUser),
      total: Type.Integer({ description: 'All that the filters let through.' }),
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
    summary: 'Make an account; for an administrator `current_password` is needed.',
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
      'Change the name or the quota of an account; without `quota_bytes`, `quota_is_default` gives it the default one.',
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
    summary:
      'Make somebody an administrator or no longer one; ends their sessions. The own role and the last administrator stay.',
    limit: 'settings_change',
    cost: 20,
    params: Type.Object({ ...confirmed, role: Role }),
    result: Type.Object({ ok: Ok, user: ListedUser, sessions_ended: Count }),
    errors: ['not_found', 'conflict', ...confirmErrors],
    example: { user_id: 1, role: 'admin', current_password: 'analytical engine' },
  }),
  set_password: action({
    ...changing,
    summary: 'Set the password of somebody else; ends their sessions and, without `keep_devices`, their devices.',
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
      'Keep an account out and end its sessions and devices; files and rows stay. Not the own one, nor the last administrator.',
    params: oneUser,
    result: Type.Object({ ok: Ok, user: ListedUser, ...ended }),
    errors: ['not_found', 'conflict'],
    example: { user_id: 1 },
  }),
  enable_user: action({
    ...changing,
    summary: 'Let a disabled account sign in again.',
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
    summary: 'Take the second factor of somebody else away, with all its codes; ends their sessions.',
    limit: 'settings_change',
    cost: 20,
    params: Type.Object(confirmed),
    result: Type.Object({
      ok: Ok,
      was: Type.Union([Type.Literal('on'), Type.Literal('set_up'), Type.Literal('off')], {
        description: '`set_up`: a set-up was begun. `off`: nothing was changed.',
      }),
      sessions_ended: Count,
    }),
    errors: ['not_found', 'conflict', ...confirmErrors],
    example: { user_id: 1, current_password: 'analytical engine' },
  }),
  bypass_2fa: action({
    ...changing,
    summary: 'A code that stands in once for the second factor of somebody else.',
    limit: 'settings_change',
    cost: 20,
    params: Type.Object({
      ...confirmed,
      minutes: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 1_440, description: 'How long it holds; default 10.' }),
      ),
    }),
    result: Type.Object({
      ok: Ok,
      code: Type.String({ description: 'Shown this once.' }),
      expires_at: Timestamp,
    }),
    errors: ['not_found', 'conflict', ...confirmErrors],
    example: { user_id: 1, minutes: 30, current_password: 'analytical engine' },
  }),
  sign_out: action({
    ...changing,
    summary: 'End the sessions of an account, with `devices` its devices as well; the calling session stays.',
    params: Type.Object({ user_id: UserId, devices: Type.Optional(Type.Boolean()) }),
    result: Type.Object({ ok: Ok, ...ended }),
    errors: ['not_found'],
    example: { user_id: 1, devices: true },
  }),
  removal: action({
    ...reading,
    summary: 'What would go with an account, and with `files_to` what that user would get.',
    params: Type.Object({ user_id: UserId, files_to: HeirId, keep_messages: KeepMessages }),
    result: Type.Object({ ok: Ok, has: Possessions, messages_kept: MessagesKept, hands_over: orNull(HandedOver) }),
    errors: ['not_found', 'conflict', 'bad_request'],
    example: { user_id: 1 },
  }),
  remove_user: action({
    ...changing,
    summary:
      'Remove an account for good; `files_to` names the user who gets its files, and `keep_messages` leaves what it said. Not the own one, nor the last administrator.',
    limit: 'settings_change',
    cost: 20,
    params: Type.Object({ ...confirmed, files_to: HeirId, keep_messages: KeepMessages }),
    result: Type.Object({ ok: Ok, had: Possessions, messages_kept: MessagesKept, handed_over: orNull(HandedOver) }),
    errors: ['not_found', 'conflict', ...confirmErrors],
    example: { user_id: 1, current_password: 'analytical engine' },
  }),
  usage: action({
    ...reading,
    summary: 'What accounts hold, of how much, and when that is full; a page at a time, with the sums of all.',
    params: Type.Object({
      sort: Type.Optional(oneOf('used', 'name', 'percent', 'growth')),
      over: Type.Optional(
        Type.Integer({ minimum: 0, maximum: 1_000_000, description: 'Only who uses so many percent of the quota.' }),
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
    summary: 'How much accounts without a quota of their own may store.',
    params: Type.Object({ quota_bytes: Quota }),
    result: Type.Object({ ok: Ok, default_quota_bytes: Quota }),
    errors: ['conflict'],
    example: { quota_bytes: 1_099_511_627_776 },
  }),
  maintenance: action({
    ...reading,
    summary: 'Whether maintenance is on, until when and with which message.',
    params: none,
    result: Type.Object({ ok: Ok, ...MaintenanceState }),
    errors: [],
    example: {},
  }),
  begin_maintenance: action({
    ...changing,
    summary:
      'Let only administrators in, or with `read_only` nobody else change anything. The former ends every session, the calling one too.',
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
    summary: 'Let everybody in again.',
    params: none,
    result: Type.Object({ ok: Ok, was_on: Type.Boolean() }),
    errors: [],
    example: {},
  }),
  backups: action({
    ...reading,
    summary: 'When backups are made, the last one, the last one proven by a restore, and which there are.',
    params: none,
    result: Type.Object({ ok: Ok, ...BackupsState }),
    errors: [],
    example: {},
  }),
  doctor: action({
    ...reading,
    summary: 'What every check of the installation finds, with its remedy.',
    params: none,
    result: Type.Object({ ok: Ok, checks: Type.Array(Finding) }),
    errors: [],
    example: {},
  }),
  audit: action({
    ...reading,
    summary: 'Who did what, newest first, a page at a time. Entries are kept for a year.',
    params: Type.Object({
      user: Type.Optional(
        Type.String({ minLength: 1, maxLength: 200, description: 'Who did it, or to whom it was done.' }),
      ),
      kinds: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 1_000,
          description: 'Kinds with commas between them; `login.*` stands for all that begin so.',
        }),
      ),
      since: Type.Optional(Moment('ISO 8601: not before.')),
      until: Type.Optional(Moment('ISO 8601: before.')),
      after: Type.Optional(
        Type.String({ pattern: '^\\d{1,15}-\\d{1,15}$', description: '`next` of the page before.' }),
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
    summary: 'Every app of the service: of the desktop, added, installed, and custom ones of users.',
    params: none,
    result: Type.Object({ ok: Ok, apps: Type.Array(RegisteredApp) }),
    errors: [],
    example: {},
  }),
  enable_app: action({
    ...changing,
    summary: 'Let users have a disabled app again.',
    params: slug,
    result: changed,
    errors: ['not_found', 'conflict'],
    example: { slug: 'places' },
  }),
  disable_app: action({
    ...changing,
    summary: 'Keep an app from everybody, at once. Not the one that administers.',
    params: slug,
    result: changed,
    errors: ['not_found', 'conflict'],
    example: { slug: 'places' },
  }),
})
