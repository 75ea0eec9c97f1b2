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
import type { DeviceNames } from './pending.ts'
import { refuse } from './refusals.ts'
import { hashToken, isToken, newToken } from './tokens.ts'

const MAX_DEVICES = 20

/** The use of a token is noted once in this time, so that requests do not become writes. */
const TOUCH_EVERY_MS = MINUTE

/** Who calls with a device token: read anew for every request. */
export interface SignedIn {
  user: { id: number; username: string; display_name: string; role: Role; avatar_color: string }
  device: {
    token_id: number
    device_id: string
    device_name: string
    /** When the token ends however much it is used, epoch ms; null for never. */
    expires_at: number | null
    allows_code: boolean
  }
}

/** How long device tokens last, ms; 0 for ever. */
export interface DevicePolicy {
  /** Without use. */
  deviceIdleMs: number
  /** In any case. */
  deviceMaxMs: number
}

export interface Devices {
  /** What decides now which tokens are over. To be asked for before a transaction. */
  lifetime(): Promise<Lifetime>
  /** Gives a device its token, in the place of its former one. Returns the token, which nobody can be told again. */
  issue(tx: Writer, user: number, device: DeviceNames, from: RequestOrigin, lifetime: Lifetime): Promise<string>
  authenticate(token: string, ip: string, on?: Reader): Promise<SignedIn | undefined>
  list(user: number): Promise<StoredDevice[]>
  /** Ends a token of this account. Throws `not_found` when it has none with this id. */
  revoke(user: number, tokenId: number, actor?: Actor): Promise<void>
  /** Ends every token of this account. Returns how many there were. */
  revokeAll(user: number, actor?: Actor): Promise<number>
  /** Ends the calling token; that it is gone already is just as well. */
  logout(caller: SignedIn, actor?: Actor): Promise<void>
}

/** Refuses names of a device that could not be stored or shown unchanged. */
export function assertDeviceNames({ device_id, device_name }: DeviceNames): void {
  if (!isSound(device_id)) throw refuse('device_id', 'The device id must consist of whole characters.')
  if (!isSound(device_name)) throw refuse('device_name', 'The device name must consist of whole characters.')
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

  /** Notes that a token is in use, beside the request. */
  function touch(id: number, now: number, ip: string): void {
    if (touching.has(id)) return
    touching.add(id)
    database
      .write((tx) => touchToken(tx, id, now, now - TOUCH_EVERY_MS, ip))
      // Nobody waits for the note: when it cannot be written, the next request tries again, and real writes report the cause.
      .catch(() => undefined)
      .finally(() => touching.delete(id))
  }

  const end = (user: number, token_id: number, actor: Actor | undefined, reason: 'revoked' | 'logout') =>
    database.write(async (tx) => {
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
      if ((row.last_used_at ?? 0) <= bounds.now - TOUCH_EVERY_MS) touch(row.token_id, bounds.now, ip)
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
      return database.write(async (tx) => {
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
