import { MINUTE, type Clock } from '../../base/clock.ts'
import { fault, type Fault } from '../../contract/errors.ts'
import type { Database, Reader } from '../../storage/engine/database.ts'
import type { StoredDevice } from '../../storage/accounts/device-tokens.ts'
import type { Files } from '../files/files.ts'
import type { Audit, RequestOrigin } from '../instance/instance.ts'
import type { Actor } from './actor.ts'
import { makeAddressThrottle } from './address-throttle.ts'
import { makeBrowserLogins, type BrowserLogins } from './browser-login.ts'
import { isInSession, type Caller } from './caller.ts'
import { makeCodeVerifier } from './code-verifier.ts'
import { makeAccessWatch } from './access-watch.ts'
import { assertDeviceNames, makeDevices, type DevicePolicy, type SignedIn } from './devices.ts'
import { makeLockout } from './lockout.ts'
import { makeLogin, type Completion, type Grant } from './login.ts'
import { makeMinting, type MintToken } from './minting.ts'
import { makeNewAccounts } from './new-accounts.ts'
import { makeOwnPassword, type PasswordChange } from './own-password.ts'
import { assertPasswordSize, hashingQueue, makePasswords } from './passwords.ts'
import { makePendingLogins, type DeviceNames } from './pending-logins.ts'
import { makeQueue, makeQueuePerKey } from './job-queue.ts'
import type { Keys } from './sealing.ts'
import { makeSecurityEvents, type SecurityEvent } from './security-events.ts'
import { makeSetup, type Setup } from './setup.ts'
import { makeSessions, sessionBounds, type InSession, type Sessions } from './sessions.ts'
import { makeTwoFactor, type TwoFactor } from './two-factor.ts'
import { makeRemovalJobs } from './removal-jobs.ts'
import { makeUsers, type Users } from './users.ts'

export { authorized, withAuthority, type Authority } from './authority.ts'
export { isInternal } from './address-throttle.ts'
export { deriveKeys, seal, unseal, type Keys } from './sealing.ts'
export { assertNewPassword, assertPasswordHash } from './passwords.ts'
export { assertNotReserved, readDisplayName, readUsername } from './user.ts'
export { normalName } from './usernames.ts'
export { isInSession, type Caller } from './caller.ts'
export type { SignedIn } from './devices.ts'
export type { Actor } from './actor.ts'
export type { SetupState } from './setup.ts'
export type { InSession } from './sessions.ts'
export { issuerOf } from './totp.ts'
export type { TwoFactorStatus } from './two-factor-administration.ts'
export type { ListedUser, UserFilter, UserOrder } from './listing.ts'
export type { HandedOver, RemovalPlan } from './removal.ts'
export type { NewUser } from './new-accounts.ts'

export interface DeviceLogin extends DeviceNames {
  username: string
  password: string
  ip: string
  userAgent?: string
  /** Whether the address belongs to a proxy that is not configured. */
  isShared?: boolean
}

export interface LoggedIn {
  token: string
  user: { id: number; username: string; display_name: string }
}

/** Accounts and how they authenticate: users, passwords, second factors, devices, sessions. */
export interface Accounts extends Users {
  /**
   * Exchanges a user name and a password for a device token, or for a pending token when a second factor is on. Throws
   * `invalid_credentials`, `account_locked`, `rate_limited`, `busy`, and `maintenance` only after a correct password.
   */
  login(login: DeviceLogin): Promise<LoggedIn | { pending_token: string }>
  /** Takes a TOTP or backup code. Throws `invalid_code`, `account_locked`, `rate_limited`, `maintenance`. */
  completeLogin(completion: Completion): Promise<LoggedIn>
  /**
   * Authenticates a device token, on committed data or on the transaction `on`; undefined if it is malformed, unknown or
   * expired, or its user is disabled. Records its use at most once a minute.
   */
  authenticateDevice(token: string, ip: string, on?: Reader): Promise<SignedIn | undefined>
  /** Calls `ended` once when the caller's token or session ends, on any server. Returns a function that stops it. */
  watchAccess(caller: Caller, ended: () => void): () => void
  devices(user: number): Promise<StoredDevice[]>
  securityEvents(user: Pick<SignedIn['user'], 'id' | 'username'>): Promise<SecurityEvent[]>
  /** Revokes a token of this user. Throws `not_found`. */
  revokeDevice(user: number, tokenId: number, actor?: Actor): Promise<void>
  /** Revokes every token of this user. Returns their number. */
  revokeAllDevices(user: number, actor?: Actor): Promise<number>
  mintToken: MintToken
  /** Revokes the calling token; does nothing if it is gone. */
  logout(caller: SignedIn, actor?: Actor): Promise<void>
  /**
   * Changes the password of a user who knows the current one, and ends their other sessions and devices unless `end_others`
   * is false. A wrong password counts like a failed login. Throws `invalid_credentials`, `account_locked`, `rate_limited`,
   * `busy`, `bad_request`.
   */
  changePassword(
    user: Pick<SignedIn['user'], 'id' | 'username' | 'display_name'>,
    change: PasswordChange,
    actor: Actor,
  ): Promise<void>
  /** A wrong password counts as a failed login, and fails like one. */
  confirmPassword(user: { username: string }, password: string, from: RequestOrigin): Promise<void>
  /**
   * Reauthenticates before a change that would let a stolen session stay (OWASP ASVS 5.0, 7.5.1). A session younger than 10
   * minutes needs no password. Also throws `password_required`.
   */
  confirmPresence(caller: InSession, password: string | undefined, from: RequestOrigin): Promise<void>
  browserLogins: BrowserLogins
  sessions: Sessions
  twoFactor: TwoFactor
  setup: Setup
}

/** Whether the caller may install code: a stolen device token must not become a foothold in every browser of its user. */
export const mayInstallCode = (caller: Caller): boolean => isInSession(caller) || caller.device.allows_code

/** Settings of accounts as plain values, read at each use. */
export interface AccountPolicy extends DevicePolicy {
  /** Whether failed logins are limited per address; account locks always apply. */
  limitsOn: boolean
  /** Bytes, -1 for unlimited. */
  defaultQuotaBytes: number
  /** Host name of the service; empty if none is set. */
  hostName: string
}

export interface AccountsDeps {
  database: Database
  /** The database without the caller's authority check, for background jobs. */
  unattended: Database
  clock: Clock
  keys: Keys
  audit: Audit
  files: Pick<Files, 'slice' | 'settleTrees'>
  policy: () => Promise<AccountPolicy>
  /** Refuses logins of users who are not administrators; undefined outside maintenance. */
  maintenance: () => Promise<Fault | undefined>
  /** Interval of the check for access that ended without a notification, ms. */
  checkIntervalMs?: number | undefined
}

/**
 * Time after a login in which no password is required, ms: the time a second factor's set-up may take. Clients that do not
 * know `password_required` sign in again and set it up.
 */
const JUST_SIGNED_IN_MS = 10 * MINUTE

/** Login attempts for one name run one at a time; this many may wait. */
const attemptsPerName = {
  atOnce: 1,
  waiting: 32,
  full: () =>
    fault('rate_limited', { text: 'Too many logins of this user at the same moment; try again.', retryAfter: 1 }),
} as const

export function makeAccounts(deps: AccountsDeps): Accounts {
  const { database, unattended, clock, keys, audit, files, policy, maintenance, checkIntervalMs } = deps
  const queue = makeQueue(hashingQueue)
  const passwords = makePasswords(queue)
  const lockout = makeLockout({ clock, key: keys.names })
  const codeVerifier = makeCodeVerifier({ database, clock, sealKey: keys.seal, queue, audit })
  const devices = makeDevices({ database, clock, audit, policy })
  const newAccounts = makeNewAccounts({ database, clock, passwords, audit, policy })
  const { lifetime } = devices
  const removalJobs = makeRemovalJobs({ unattended, clock, slice: files.slice, settleTrees: files.settleTrees })
  const users = makeUsers({ database, clock, passwords, lockout, newAccounts, audit, policy, lifetime, removalJobs })
  const sessions = makeSessions({ database, clock, csrfKey: keys.csrf, audit })
  const login = makeLogin({
    database,
    clock,
    passwords,
    lockout,
    codeVerifier,
    audit,
    policy,
    maintenance,
    addressThrottle: makeAddressThrottle(clock),
    pending: makePendingLogins(clock),
    attempts: makeQueuePerKey(attemptsPerName),
  })

  async function tokenGrant({ ip, userAgent = '' }: Partial<RequestOrigin> & { ip: string }): Promise<Grant<string>> {
    const bounds = await lifetime()
    return {
      kind: 'sync',

      issue: (tx, account, device) => devices.issue(tx, account.id, device!, { ip, userAgent }, bounds),
    }
  }

  async function confirmPassword(
    { username }: { username: string },
    password: string,
    { ip, userAgent, isShared = false }: RequestOrigin,
  ) {
    assertPasswordSize(password, 'current_password')
    await login.confirm({ username, password, ip, userAgent, isShared })
  }

  return {
    ...users,
    async login({ device_id, device_name, ...attempt }) {
      const device = { device_id, device_name }
      assertDeviceNames(device)
      const begun = await login.begin({ ...attempt, device }, await tokenGrant(attempt))
      return 'pending_token' in begun ? begun : loggedIn(begun)
    },
    async completeLogin(completion) {
      return loggedIn(await login.complete(completion, await tokenGrant(completion)))
    },
    authenticateDevice: devices.authenticate,
    watchAccess: makeAccessWatch({
      database,
      lifetime,
      sessionBounds: () => sessionBounds(clock.now()),
      checkIntervalMs,
    }),
    devices: devices.list,
    securityEvents: makeSecurityEvents({ database, clock, audit }),
    revokeDevice: devices.revoke,
    revokeAllDevices: devices.revokeAll,
    mintToken: makeMinting({ database, clock, audit }),
    logout: devices.logout,
    changePassword: makeOwnPassword({ database, clock, login, passwords, audit, lifetime, policy }),
    confirmPassword,
    async confirmPresence({ user, session }, password, from) {
      if (password !== undefined) return confirmPassword(user, password, from)
      if (session.created_at <= clock.now() - JUST_SIGNED_IN_MS) throw fault('password_required')
    },
    browserLogins: makeBrowserLogins({ login, sessions }),
    sessions,
    twoFactor: makeTwoFactor({ database, clock, sealKey: keys.seal, queue, codeVerifier, audit, lifetime }),
    setup: makeSetup({ database, clock, newAccounts, audit }),
  }
}

const loggedIn = ({ account, issued }: { account: LoggedIn['user']; issued: string }): LoggedIn => ({
  token: issued,
  user: { id: account.id, username: account.username, display_name: account.display_name },
})
