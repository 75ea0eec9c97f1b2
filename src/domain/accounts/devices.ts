import { MINUTE, type Clock } from '../../base/clock.ts'
import { isSound } from '../../base/text.ts'
import type { Database, Reader, Writer } from '../../storage/engine/database.ts'
import {
  deleteToken,
  deleteTokensOf,
  devicesOf,
  holderOf,
  replaceToken,
  touchToken,
  type Lifetime,
  type StoredDevice,
  type TokenHolder,
} from '../../storage/accounts/device-tokens.ts'
import { fault } from '../../contract/errors.ts'
import type { Role } from '../../contract/shapes.ts'
import type { Audit, RequestOrigin } from '../instance/instance.ts'
import { auditActor, type Actor } from './actor.ts'
import type { DeviceNames } from './pending-logins.ts'
import { invalidField } from './account-faults.ts'
import { hashToken, isToken, newToken } from './tokens.ts'

const MAX_DEVICES = 20

/** Interval at which the use of a token is recorded, so that requests do not become writes. */
const TOUCH_EVERY_MS = MINUTE

/** A caller with a device token, read again for every request. */
export interface SignedIn {
  user: { id: number; username: string; display_name: string; role: Role; avatar_color: string }
  device: {
    token_id: number
    device_id: string
    device_name: string
    /** When the token expires regardless of use, epoch ms; null for never. */
    expires_at: number | null
    allows_code: boolean
  }
}

/** Lifetime of device tokens, ms; 0 for unlimited. */
export interface DevicePolicy {
  /** Without use. */
  deviceIdleMs: number
  /** Since creation. */
  deviceMaxMs: number
}

export interface Devices {
  /** The current expiry bounds of tokens; read before a transaction begins. */
  lifetime(): Promise<Lifetime>
  /** Issues a token for a device and replaces its former one. Only the hash is stored. */
  issue(tx: Writer, user: number, device: DeviceNames, from: RequestOrigin, lifetime: Lifetime): Promise<string>
  authenticate(token: string, ip: string, on?: Reader): Promise<SignedIn | undefined>
  list(user: number): Promise<StoredDevice[]>
  /** Revokes a token of this account. Throws `not_found`. */
  revoke(user: number, tokenId: number, actor?: Actor): Promise<void>
  /** Revokes every token of this account. Returns their number. */
  revokeAll(user: number, actor?: Actor): Promise<number>
  /** Revokes the calling token; does nothing if it is gone. */
  logout(caller: SignedIn, actor?: Actor): Promise<void>
}

/** Refuses device names that cannot be stored or displayed unchanged. */
export function assertDeviceNames({ device_id, device_name }: DeviceNames): void {
  if (!isSound(device_id)) throw invalidField('device_id', 'The device id must consist of whole characters.')
  if (!isSound(device_name)) throw invalidField('device_name', 'The device name must consist of whole characters.')
}

export interface DevicesDeps {
  database: Database
  clock: Clock
  audit: Audit
  policy: () => Promise<DevicePolicy>
}

export function makeDevices({ database, clock, audit, policy }: DevicesDeps): Devices {
  const touching = new Set<number>()

  async function lifetime(): Promise<Lifetime> {
    const { deviceIdleMs, deviceMaxMs } = await policy()
    const now = clock.now()
    return {
      now,
      idleSince: deviceIdleMs > 0 ? now - deviceIdleMs : -1,
      madeSince: deviceMaxMs > 0 ? now - deviceMaxMs : -1,
    }
  }

  /** Records the use of a token without delaying the request. */
  function touch(user: number, id: number, now: number, ip: string): void {
    if (touching.has(id)) return
    touching.add(id)
    database
      .write({ accounts: [user] }, (tx) => touchToken(tx, id, now, now - TOUCH_EVERY_MS, ip))
      // A failed write is retried by the next request, and real writes report the cause.
      .catch(() => undefined)
      .finally(() => touching.delete(id))
  }

  const end = (user: number, token_id: number, actor: Actor | undefined, reason: 'revoked' | 'logout') =>
    database.write({ accounts: [user] }, async (tx) => {
      if (!(await deleteToken(tx, user, token_id))) return false
      await audit.record(tx, { kind: 'token.revoked', ...auditActor(user, actor), detail: { token_id, reason } })
      return true
    })

  return {
    lifetime,
    async issue(tx, user, device, from, bounds) {
      const token = newToken()
      const { now } = bounds
      const row = {
        user_id: user,
        device_id: device.device_id,
        device_name: device.device_name,
        token_hash: hashToken(token),
        created_at: now,
        last_used_at: now,
        last_ip: from.ip,
        expires_at: null,
      }
      const token_id = await replaceToken(tx, row, bounds, MAX_DEVICES)
      await audit.record(tx, { kind: 'token.issued', by: user, from, about: user, detail: { token_id, ...device } })
      return token
    },
    async authenticate(token, ip, on = database.read) {
      if (!isToken(token)) return undefined
      const bounds = await lifetime()
      const row = await holderOf(on, hashToken(token), bounds)
      if (!row) return undefined
      if ((row.last_used_at ?? 0) <= bounds.now - TOUCH_EVERY_MS) touch(row.user_id, row.token_id, bounds.now, ip)
      return signedIn(row, bounds)
    },
    async list(user) {
      return devicesOf(database.read, user, await lifetime())
    },
    async revoke(user, tokenId, actor) {
      if (!(await end(user, tokenId, actor, 'revoked'))) throw fault('not_found')
    },
    async revokeAll(user, actor) {
      const bounds = await lifetime()
      return database.write({ accounts: [user] }, async (tx) => {
        const devices = await deleteTokensOf(tx, user, bounds)
        const detail = { devices_ended: devices, reason: 'revoked' }
        if (devices > 0) await audit.record(tx, { kind: 'token.revoked', ...auditActor(user, actor), detail })
        return devices
      })
    },
    async logout({ user, device }, actor) {
      await end(user.id, device.token_id, actor, 'logout')
    },
  }
}

function signedIn(holder: TokenHolder, { now, madeSince }: Lifetime): SignedIn {
  const { user_id: id, username, display_name, role, avatar_color, token_id, device_id, device_name } = holder
  const ends = [holder.expires_at, madeSince < 0 ? null : holder.created_at + (now - madeSince)]
  const ahead = ends.filter((end) => end !== null)
  return {
    user: { id, username, display_name, role, avatar_color },
    device: {
      token_id,
      device_id,
      device_name,
      expires_at: ahead.length > 0 ? Math.min(...ahead) : null,
      allows_code: holder.allows_code === 1,
    },
  }
}
