import { MINUTE, type Clock } from '../../base/clock.ts'
import { fault, type Fault } from '../../contract/errors.ts'
import type { Database, Reader } from '../../storage/engine/database.ts'
import type { StoredDevice } from '../../storage/accounts/device-tokens.ts'
import type { Files } from '../files/files.ts'
import type { Audit, RequestOrigin } from '../instance/instance.ts'
import type { Actor } from './actor.ts'
import { makeAddresses } from './addresses.ts'
import { makeBrowserLogins, type BrowserLogins } from './browser-login.ts'
import { isInSession, type Caller } from './caller.ts'
import { makeCodeStep } from './code-step.ts'
import { makeAccessWatch } from './access-watch.ts'
import { assertDeviceNames, makeDevices, type DevicePolicy, type SignedIn } from './devices.ts'
import { makeLockout } from './lockout.ts'
import { makeLogin, type Completion, type Grant } from './login.ts'
import { makeMinting, type MintToken } from './minting.ts'
import { makeNewAccounts } from './new-accounts.ts'
import { makeOwnPassword, type PasswordChange } from './own-password.ts'
import { assertPasswordSize, hashingQueue, makePasswords } from './passwords.ts'
import { makePendingLogins, type DeviceNames } from './pending.ts'
import { makeQueue, makeQueuePerKey } from './queue.ts'
import type { Keys } from './sealing.ts'
import { makeSecurityEvents, type SecurityEvent } from './security-events.ts'
import { makeSetup, type Setup } from './setup.ts'
import { makeSessions, sessionBounds, type InSession, type Sessions } from './sessions.ts'
import { makeTwoFactor, type TwoFactor } from './two-factor.ts'
import { makeRemovalWork } from './removal-work.ts'
import { makeUsers, type Users } from './users.ts'

export { authorized, withAuthority, type Authority } from './authority.ts'
export { isInternal } from './addresses.ts'
export { deriveKeys, seal, unseal, type Keys } from './sealing.ts'
export { assertNewPassword, assertPasswordHash } from './passwords.ts'
export { readDisplayName, readUsername } from './user.ts'
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
  /** Whether the address is that of a proxy nobody named. */
  isShared?: boolean
}

export interface LoggedIn {
  token: string
  user: { id: number; username: string; display_name: string }
}

/** Who may come in: users, passwords, second factors, devices. */
export interface Accounts extends Users {
  /**
   * Exchanges a name and a password for a device token, or for a pending token when a second factor is on. Throws
   * `invalid_credentials`, `account_locked`, `rate_limited`, `busy`; `maintenance` only after a right password.
   */
  login(login: DeviceLogin): Promise<LoggedIn | { pending_token: string }>
  /** Completes such a login with a TOTP or backup code. Throws `invalid_code`, `account_locked`, `rate_limited`, `maintenance`. */
  completeLogin(completion: Completion): Promise<LoggedIn>
  /**
   * Whose device token this is, committed or as `on` sees it; undefined when it is malformed, unknown, over, or its user
   * disabled. Notes its use now and then.
   */
  authenticateDevice(token: string, ip: string, on?: Reader): Promise<SignedIn | undefined>
  /** Calls `ended` once when the caller's token or session has ended, on whichever server. Returns what stops the watch. */
  watchAccess(caller: Caller, ended: () => void): () => void
  /** The devices of a user that are signed in, the one used last first. */
  devices(user: number): Promise<StoredDevice[]>
  /** What happened to the security of a user's account, newest first. */
  securityEvents(user: Pick<SignedIn['user'], 'id' | 'username'>): Promise<SecurityEvent[]>
  /** Ends a token of this user. Throws `not_found` when there is none with this id. */
  revokeDevice(user: number, tokenId: number, actor?: Actor): Promise<void>
  /** Ends every token of this user. Returns how many there were. */
  revokeAllDevices(user: number, actor?: Actor): Promise<number>
  mintToken: MintToken
  /** Ends the calling token; that it is gone already is just as well. */
  logout(caller: SignedIn, actor?: Actor): Promise<void>
  /**
   * Changes the password of somebody who knows the current one, and ends their other sessions and their devices, unless
   * `end_others` is false. A wrong one counts like a failed login. Throws `invalid_credentials`, `account_locked`, `rate_limited`, `busy`, `bad_request`.
   */
  changePassword(
    user: Pick<SignedIn['user'], 'id' | 'username' | 'display_name'>,
    change: PasswordChange,
    actor: Actor,
  ): Promise<void>
  /**
   * Asks somebody who is signed in for their password again. A wrong one counts like a failed login. Throws
   * `invalid_credentials`, `account_locked`, `rate_limited`, `busy`, `bad_request`.
   */
  confirmPassword(user: { username: string }, password: string, from: RequestOrigin): Promise<void>
  /**
   * The same before something that would let a stolen session stay: without a password only while the user has just signed in.
   * Throws `password_required` too.
   */
  confirmPresence(caller: InSession, password: string | undefined, from: RequestOrigin): Promise<void>
  browserLogins: BrowserLogins
  sessions: Sessions
  twoFactor: TwoFactor
  setup: Setup
}

/**
 * Whether the caller may plant code: make system apps and put components of type `js` in force. A stolen device token must
 * not become a foothold in every browser of its user.
 */
export const mayPlantCode = (caller: Caller): boolean => isInSession(caller) || caller.device.allows_code

/** Settings that the accounts go by, as plain values; read anew wherever they count. */
export interface AccountPolicy extends DevicePolicy {
  /** Whether failed logins are limited by address; locks of accounts hold in any case. */
  limitsOn: boolean
  /** Bytes, -1 for unlimited. */
  defaultQuotaBytes: number
  /** The host name of the service, empty where none is set. */
  hostName: string
}

export interface AccountsDeps {
  database: Database
  /** The same, for work that was decided and goes on whoever began it. */
  unattended: Database
  clock: Clock
  keys: Keys
  audit: Audit
  files: Pick<Files, 'slice' | 'settleTrees'>
  policy: () => Promise<AccountPolicy>
  /** What a login of somebody who is no administrator is refused with; undefined outside maintenance. */
  maintenance: () => Promise<Fault | undefined>
  /** How often to look for access that ended without being told. */
  lookEveryMs?: number | undefined
}

/**
 * How long after signing in nobody is asked for the password again, ms: as long as the set-up of a second factor may take. Clients
 * that know no such question sign in and set it up.
 */
const JUST_SIGNED_IN_MS = 10 * MINUTE

/** Attempts for one name that may wait while another one is looked at. */
const attemptsPerName = {
  atOnce: 1,
  waiting: 32,
  full: () =>
    fault('rate_limited', { text: 'Too many logins of this user at the same moment; try again.', retryAfter: 1 }),
} as const

export function makeAccounts(deps: AccountsDeps): Accounts {
  const { database, unattended, clock, keys, audit, files, policy, maintenance, lookEveryMs } = deps
  const queue = makeQueue(hashingQueue)
  const passwords = makePasswords(queue)
  const lockout = makeLockout({ clock, key: keys.names })
  const codeStep = makeCodeStep({ database, clock, sealKey: keys.seal, queue, audit })
  const devices = makeDevices({ database, clock, audit, policy })
  const newAccounts = makeNewAccounts({ database, clock, passwords, audit, policy })
  const { lifetime } = devices
  const work = makeRemovalWork({ unattended, clock, slice: files.slice, settleTrees: files.settleTrees })
  const users = makeUsers({ database, clock, passwords, lockout, newAccounts, audit, policy, lifetime, work })
  const sessions = makeSessions({ database, clock, csrfKey: keys.csrf, audit })
  const login = makeLogin({
    database,
    clock,
    passwords,
    lockout,
    codeStep,
    audit,
    policy,
    maintenance,
    addresses: makeAddresses(clock),
    pending: makePendingLogins(clock),
    turns: makeQueuePerKey(attemptsPerName),
  })

  /** A login of a device ends with its token. */
  async function tokenGrant({ ip, userAgent = '' }: Partial<RequestOrigin> & { ip: string }): Promise<Grant<string>> {
    const bounds = await lifetime()
    return {
      kind: 'sync',
      give: (tx, account, device) => devices.issue(tx, account.id, device!, { ip, userAgent }, bounds),
    }
  }

  async function confirmPassword(
    { username }: { username: string },
    password: string,
    { ip, userAgent }: RequestOrigin,
  ) {
    assertPasswordSize(password, 'current_password')
    await login.confirm({ username, password, ip, userAgent })
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
      lookEveryMs,
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
    twoFactor: makeTwoFactor({ database, clock, sealKey: keys.seal, queue, codeStep, audit, lifetime }),
    setup: makeSetup({ database, clock, newAccounts, audit }),
  }
}

const loggedIn = ({ account, given }: { account: LoggedIn['user']; given: string }): LoggedIn => ({
  token: given,
  user: { id: account.id, username: account.username, display_name: account.display_name },
})
