import { action, endpoint, none } from './define.ts'
import { Count, Id, Ok, Role, Timestamp, User } from './shapes.ts'
import { Code, Device, Password } from './sync-auth.ts'
import { Type } from './schema.ts'

const session = { session: true } as const

const TotpCode = { totp_code: Code }
const CurrentPassword = {
  current_password: Type.Optional(
    Type.String({
      maxLength: 1_024,
      description: 'Required if the session began more than 10 minutes ago. Always checked if given.',
    }),
  ),
}
const EndOthers = (standard: boolean) => ({
  end_others: Type.Optional(
    Type.Boolean({ description: `Whether to sign out all other sessions and all devices; default ${standard}.` }),
  ),
})
const BackupCodes = Type.Array(Type.String({ description: '10 characters. Shown only now; each code works once.' }))
const Color = Type.String({ pattern: '^#[0-9a-f]{6}$' })
const Profile = Type.Object({ ...User.properties, role: Role, avatar_color: Type.String() })
export const DisplayName = Type.String({ minLength: 1, maxLength: 100 })

/** Events that users are notified of, because each may be a sign of a takeover. */
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

/** Browser sessions only: a stolen device token must not be able to take over the account. */
export const accountSettings = endpoint('/api/settings.php', {
  '2fa_status': action({
    summary: 'State of the second factor, and the number of unused backup codes.',
    method: 'GET',
    auth: session,
    limit: 'none',
    params: none,
    result: Type.Object({ ok: Ok, enabled: Type.Boolean(), backup_codes_left: Count }),
    errors: [],
    example: {},
  }),
  setup_2fa: action({
    summary: 'Start setting up the second factor. Returns a secret and its QR code, valid for 10 minutes.',
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
    summary:
      'Turn the second factor on with a code of the new secret. `end_others` signs out all other sessions and devices.',
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
    summary: 'Turn the second factor off. Ends all other sessions.',
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
    summary: 'Replace the backup codes with 8 new ones.',
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
    summary: 'Change the password. Signs out all other sessions and all devices unless `end_others` is false.',
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
    summary: 'Your profile.',
    method: 'GET',
    auth: session,
    limit: 'none',
    params: none,
    result: Type.Object({ ok: Ok, user: Profile }),
    errors: [],
    example: {},
  }),
  update_profile: action({
    summary: 'Change your profile.',
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
    summary: 'Your sessions, newest first.',
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
    summary: 'End one of your sessions.',
    method: 'POST',
    auth: session,
    limit: 'none',
    params: Type.Object({ session_id: Id }),
    result: Type.Object({ ok: Ok, revoked: Ok }),
    errors: ['not_found'],
    example: { session_id: 1 },
  }),
  devices: action({
    summary: 'Your devices.',
    method: 'GET',
    auth: session,
    limit: 'none',
    params: none,
    result: Type.Object({ ok: Ok, devices: Type.Array(Device) }),
    errors: [],
    example: {},
  }),
  security_events: action({
    summary: 'Security events of your account in the last 90 days, newest first, at most 50.',
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
            description: '`self`: someone signed in as this user. `stranger`: someone who tried to sign in.',
          }),
          ip: Type.Union([Type.String(), Type.Null()]),
          user_agent: Type.Union([Type.String(), Type.Null()]),
          device_name: Type.Optional(Type.String({ description: 'Name of the device that signed in.' })),
        }),
      ),
    }),
    errors: [],
    example: {},
  }),
  revoke_device: action({
    summary: 'Revoke one of your device tokens.',
    method: 'POST',
    auth: session,
    limit: 'none',
    params: Type.Object({ token_id: Id }),
    result: Type.Object({ ok: Ok, revoked: Ok }),
    errors: ['not_found'],
    example: { token_id: 1 },
  }),
})
