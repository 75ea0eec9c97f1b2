import { Type } from 'typebox'
import { action, endpoint, none } from './define.ts'
import { Count, Id, Ok, Role, Timestamp, User } from './shapes.ts'
import { Code, Device, Password } from './sync-auth.ts'

const session = { session: true } as const

const TotpCode = { totp_code: Code }
const CurrentPassword = {
  current_password: Type.Optional(
    Type.String({
      maxLength: 1_024,
      description: 'Needed where the session began more than 10 minutes ago; checked wherever it is given.',
    }),
  ),
}
const EndOthers = (standard: boolean) => ({
  end_others: Type.Optional(
    Type.Boolean({ description: `Whether all other sessions and all devices are signed out; default ${standard}.` }),
  ),
})
const BackupCodes = Type.Array(Type.String({ description: '10 characters; shown this once, each works once.' }))
const Color = Type.String({ pattern: '^#[0-9a-f]{6}$' })
const Profile = Type.Object({ ...User.properties, role: Role, avatar_color: Type.String() })
export const DisplayName = Type.String({ minLength: 1, maxLength: 100 })

/** Kinds of events that users are told of, because each may be the trace of somebody who took an account over. */
export const securityEventKinds = [
  'user.password',
  '2fa.enabled',
  '2fa.disabled',
  '2fa.reset',
  '2fa.codes_regenerated',
  '2fa.backup_code_used',
  '2fa.bypass_made',
  '2fa.bypass_used',
  '2fa.locked',
  'login.locked',
  'token.issued',
  'token.minted',
] as const

/** What users change about their own account. Only browser sessions: a device token cannot take an account over. */
export const accountSettings = endpoint('/api/settings.php', {
  '2fa_status': action({
    summary: 'Whether the second factor is on, and how many backup codes are left.',
    method: 'GET',
    auth: session,
    limit: 'none',
    params: none,
    result: Type.Object({ ok: Ok, enabled: Type.Boolean(), backup_codes_left: Count }),
    errors: [],
    example: {},
  }),
  setup_2fa: action({
    summary: 'Begin to set up the second factor: a secret and its QR code, valid for 10 minutes.',
    method: 'POST',
    auth: session,
    limit: 'settings_change',
    cost: 20,
    params: Type.Object(CurrentPassword),
    result: Type.Object({
      ok: Ok,
      secret: Type.String({ description: 'Base32.' }),
      otpauth_url: Type.String(),
      qr_code_url: Type.String({ description: 'A `data:` URL with an SVG picture.' }),
    }),
    errors: ['conflict', 'password_required', 'invalid_credentials', 'account_locked', 'busy'],
    example: {},
  }),
  enable_2fa: action({
    summary: 'Turn the second factor on with a code of the new secret; with `end_others` all else is signed out.',
    method: 'POST',
    auth: session,
    limit: 'settings_change',
    cost: 20,
    params: Type.Object({ ...TotpCode, ...CurrentPassword, ...EndOthers(false) }),
    result: Type.Object({ ok: Ok, backup_codes: BackupCodes }),
    errors: ['invalid_code', 'account_locked', 'conflict', 'password_required', 'invalid_credentials', 'busy'],
    example: { totp_code: '123456' },
  }),
  disable_2fa: action({
    summary: 'Turn the second factor off; ends all other sessions.',
    method: 'POST',
    auth: session,
    limit: 'settings_change',
    cost: 20,
    params: Type.Object(TotpCode),
    result: Type.Object({ ok: Ok }),
    errors: ['invalid_code', 'account_locked', 'conflict'],
    example: { totp_code: '123456' },
  }),
  regenerate_backup_codes: action({
    summary: 'Replace the backup codes by 8 new ones.',
    method: 'POST',
    auth: session,
    limit: 'settings_change',
    cost: 20,
    params: Type.Object(TotpCode),
    result: Type.Object({ ok: Ok, backup_codes: BackupCodes }),
    errors: ['invalid_code', 'account_locked', 'conflict'],
    example: { totp_code: '123456' },
  }),
  change_password: action({
    summary: 'Change the password; unless `end_others` is false, all other sessions and all devices are signed out.',
    method: 'POST',
    auth: session,
    limit: 'settings_change',
    cost: 20,
    params: Type.Object({ current_password: Password, new_password: Password, ...EndOthers(true) }),
    result: Type.Object({ ok: Ok }),
    errors: ['invalid_credentials', 'account_locked', 'busy'],
    example: { current_password: 'analytical engine', new_password: 'difference engine' },
  }),
  profile: action({
    summary: 'The own profile.',
    method: 'GET',
    auth: session,
    limit: 'none',
    params: none,
    result: Type.Object({ ok: Ok, user: Profile }),
    errors: [],
    example: {},
  }),
  update_profile: action({
    summary: 'Change the own profile.',
    method: 'POST',
    wireName: 'profile',
    auth: session,
    limit: 'none',
    params: Type.Object({ display_name: Type.Optional(DisplayName), avatar_color: Type.Optional(Color) }),
    result: Type.Object({ ok: Ok, user: Profile }),
    errors: [],
    example: { display_name: 'Ada Lovelace' },
  }),
  sessions: action({
    summary: 'The own sessions, newest first.',
    method: 'GET',
    auth: session,
    limit: 'none',
    params: none,
    result: Type.Object({
      ok: Ok,
      sessions: Type.Array(
        Type.Object({
          session_id: Id,
          created_at: Timestamp,
          last_used_at: Timestamp,
          ip: Type.String(),
          user_agent: Type.String(),
          current: Type.Boolean(),
        }),
      ),
    }),
    errors: [],
    example: {},
  }),
  revoke_session: action({
    summary: 'End one of the own sessions.',
    method: 'POST',
    auth: session,
    limit: 'none',
    params: Type.Object({ session_id: Id }),
    result: Type.Object({ ok: Ok, revoked: Ok }),
    errors: ['not_found'],
    example: { session_id: 1 },
  }),
  devices: action({
    summary: 'The own devices.',
    method: 'GET',
    auth: session,
    limit: 'none',
    params: none,
    result: Type.Object({ ok: Ok, devices: Type.Array(Device) }),
    errors: [],
    example: {},
  }),
  security_events: action({
    summary: 'What happened to the security of the own account in the last 90 days, newest first, at most 50.',
    method: 'GET',
    auth: session,
    limit: 'none',
    params: none,
    result: Type.Object({
      ok: Ok,
      events: Type.Array(
        Type.Object({
          id: Id,
          at: Timestamp,
          kind: Type.Enum(securityEventKinds, { description: 'As in the audit log.' }),
          by: Type.Enum(['self', 'administrator', 'stranger'], {
            description: '`self` is whoever was signed in as this user; `stranger` is whoever tried to sign in.',
          }),
          ip: Type.Union([Type.String(), Type.Null()]),
          user_agent: Type.Union([Type.String(), Type.Null()]),
          device_name: Type.Optional(Type.String({ description: 'Of a device that signed in.' })),
        }),
      ),
    }),
    errors: [],
    example: {},
  }),
  revoke_device: action({
    summary: 'Revoke one of the own device tokens.',
    method: 'POST',
    auth: session,
    limit: 'none',
    params: Type.Object({ token_id: Id }),
    result: Type.Object({ ok: Ok, revoked: Ok }),
    errors: ['not_found'],
    example: { token_id: 1 },
  }),
})
