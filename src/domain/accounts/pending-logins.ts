import { MINUTE, type Clock } from '../../base/clock.ts'
import type { Reader, Writer } from '../../storage/engine/database.ts'
import {
  countTry,
  insertPendingLogin,
  pendingLogin,
  takePendingLogin,
  type LoginKind,
  type PendingLogin,
} from '../../storage/accounts/pending-logins.ts'
import { hashToken, isPendingToken, newPendingToken } from './tokens.ts'

const LIFETIME_MS = 5 * MINUTE
const TRIES = 5

/** Pending logins of one account; an attacker who knows the password could accumulate them. */
const MAX_PER_USER = 20

export interface DeviceNames {
  device_id: string
  device_name: string
}

export interface PendingLogins {
  open(tx: Writer, kind: LoginKind, user: number, device: DeviceNames | undefined): Promise<string>
  /** The unexpired pending login with this token and kind; undefined otherwise. */
  find(on: Reader, kind: LoginKind, token: string): Promise<PendingLogin | undefined>
  /** Whether another code may be tried. */
  isOpen(login: PendingLogin): boolean
  miss(tx: Writer, login: PendingLogin): Promise<void>
  /** Consumes it; false if another request did. */
  take(tx: Writer, login: PendingLogin): Promise<boolean>
}

/** Logins between password and second factor, valid for one completion within 5 minutes. */
export const makePendingLogins = (clock: Clock): PendingLogins => ({
  async open(tx, kind, user, device) {
    const token = newPendingToken()
    const now = clock.now()
    const login = {
      kind,
      token_hash: hashToken(token),
      user_id: user,
      device_id: device?.device_id ?? null,
      device_name: device?.device_name ?? null,
      expires_at: now + LIFETIME_MS,
    }
    await insertPendingLogin(tx, login, MAX_PER_USER)
    return token
  },
  async find(on, kind, token) {
    return isPendingToken(token) ? pendingLogin(on, kind, hashToken(token), clock.now()) : undefined
  },
  isOpen: (login) => login.tries < TRIES,
  async miss(tx, login) {
    await countTry(tx, login.id)
  },
  take: (tx, login) => takePendingLogin(tx, login.id),
})
