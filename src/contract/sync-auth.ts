import { action, endpoint, none } from './define.ts'
import { Id, Ok, Timestamp, User } from './shapes.ts'
import { Type } from './schema.ts'

const Token = Type.String({
  pattern: '^[0-9a-f]{64}$',
  description: 'Device token; send it as `Authorization: Bearer`.',
})
const DeviceId = Type.String({ minLength: 8, maxLength: 200 })
const DeviceName = Type.String({ minLength: 1, maxLength: 200 })

/** The limit rejects oversized passwords before hashing. */
export const Password = Type.String({ maxLength: 1_024 })
export const Username = Type.String({ minLength: 1, maxLength: 200 })
export const Code = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'TOTP or backup code, or a bypass code from an administrator.',
})

export const Device = Type.Object({
  token_id: Id,
  device_id: Type.String(),
  device_name: Type.String(),
  created_at: Timestamp,
  last_used_at: Type.Union([Timestamp, Type.Null()]),
  last_ip: Type.Union([Type.String(), Type.Null()]),
  current: Type.Boolean(),
})

const signedIn = { token: Type.Optional(Token), user: Type.Optional(User) }

export const syncAuth = endpoint('/api/sync/auth.php', {
  login: action({
    summary: 'Exchange a user name and a password for a device token.',
    method: 'POST',
    auth: 'anyone',
    limit: 'anonymous',
    params: Type.Object({ username: Username, password: Password, device_name: DeviceName, device_id: DeviceId }),
    result: Type.Object({
      ok: Ok,
      ...signedIn,
      requires_2fa: Type.Optional(Ok),
      pending_token: Type.Optional(Type.String({ description: 'Valid for 5 minutes, for `login_2fa` only.' })),
    }),
    errors: ['invalid_credentials', 'account_locked', 'rate_limited', 'maintenance', 'busy'],
    openIn: ['maintenance'],
    example: { username: 'ada', password: 'analytical engine', device_name: 'Laptop', device_id: 'laptop-0001' },
  }),
  login_2fa: action({
    summary: 'Complete a login that needs a second factor.',
    method: 'POST',
    auth: 'anyone',
    limit: 'anonymous',
    params: Type.Object({ pending_token: Type.String({ maxLength: 200 }), code: Code }),
    result: Type.Object({ ok: Ok, ...signedIn }),
    errors: ['invalid_code', 'account_locked', 'rate_limited', 'maintenance', 'busy'],
    openIn: ['maintenance'],
    example: { pending_token: `p_${'0'.repeat(64)}`, code: '123456' },
  }),
  validate: action({
    summary: 'User, device and expiry of the calling token.',
    method: 'POST',
    auth: { device: true },
    limit: 'none',
    params: none,
    result: Type.Object({
      ok: Ok,
      user: User,
      device: Type.Object({ token_id: Id, device_id: Type.String(), device_name: Type.String() }),
      expires_at: Type.Union([Timestamp, Type.Null()]),
    }),
    errors: [],
    openIn: ['maintenance'],
    example: {},
  }),
  devices: action({
    summary: "List the caller's devices.",
    method: 'GET',
    auth: { device: true },
    limit: 'none',
    params: none,
    result: Type.Object({ ok: Ok, devices: Type.Array(Device) }),
    errors: [],
    example: {},
  }),
  revoke: action({
    summary: "Revoke one of the caller's device tokens.",
    method: 'POST',
    auth: { device: true },
    limit: 'none',
    params: Type.Object({ token_id: Id }),
    result: Type.Object({ ok: Ok, revoked: Ok }),
    errors: ['not_found'],
    example: { token_id: 1 },
  }),
  logout: action({
    summary: 'Revoke the calling token.',
    method: 'POST',
    auth: { device: true },
    limit: 'none',
    params: none,
    result: Type.Object({ ok: Ok }),
    errors: [],
    openIn: ['maintenance'],
    example: {},
  }),
})
