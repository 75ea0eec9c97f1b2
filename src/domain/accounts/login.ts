import type { Clock } from '../../base/clock.ts'
import { fault, type Fault } from '../../contract/errors.ts'
import { accountById, accountByName, stampLogin, updateAccount, type Account } from '../../storage/accounts/accounts.ts'
import type { Database, Writer } from '../../storage/engine/database.ts'
import type { LoginKind } from '../../storage/accounts/pending-logins.ts'
import type { Audit } from '../instance/instance.ts'
import type { AddressThrottle, LoginSource } from './address-throttle.ts'
import type { CodeVerifier } from './code-verifier.ts'
import type { Lockout } from './lockout.ts'
import { assertPasswordSize, type Passwords } from './passwords.ts'
import type { DeviceNames, PendingLogins } from './pending-logins.ts'
import type { QueuePerKey } from './job-queue.ts'
import { normalName } from './usernames.ts'

export interface Attempt {
  username: string
  password: string
  ip: string
  userAgent?: string
  /** Whether the address belongs to a proxy that is not configured. */
  isShared?: boolean
  device?: DeviceNames
}

export interface Completion {
  pending_token: string
  code: string
  ip: string
  userAgent?: string
  isShared?: boolean
}

/** What a completed login issues, in the transaction that completes it. */
export interface Grant<T> {
  kind: LoginKind
  issue: (tx: Writer, account: Account, device: DeviceNames | undefined) => Promise<T>
  /** Ends the session that the login replaces, in the transaction that accepts the password or the code. */
  replace?: (tx: Writer) => Promise<void>
  /** The account of that session. */
  replaced?: () => Promise<number | undefined>
}

export interface Granted<T> {
  account: Account
  issued: T
}

export interface Login {
  /**
   * Checks a password. Issues the grant, or a pending token if a second factor is required. Throws `invalid_credentials`,
   * `account_locked`, `rate_limited`, `busy`, and `maintenance` only after a correct password.
   */
  begin<T>(attempt: Attempt, grant: Grant<T>): Promise<Granted<T> | { pending_token: string }>
  /** Completes a pending login. Throws `invalid_code`, `account_locked`, `rate_limited`, `busy`, `maintenance`. */
  complete<T>(completion: Completion, grant: Grant<T>): Promise<Granted<T>>
  /** Checks the password of a signed-in user again; counted and refused like a login. */
  confirm(attempt: Attempt): Promise<Account>
}

export interface LoginDeps {
  database: Database
  clock: Clock
  passwords: Passwords
  lockout: Lockout
  addressThrottle: AddressThrottle
  pending: PendingLogins
  codeVerifier: CodeVerifier
  /** Serialises the attempts for each name, so that parallel guesses cannot exceed the limit. */
  attempts: QueuePerKey
  audit: Audit
  policy: () => Promise<{ limitsOn: boolean }>
  /** Refuses logins of users who are not administrators; undefined outside maintenance. */
  maintenance: () => Promise<Fault | undefined>
}

export const makeLogin = (deps: LoginDeps): Login => ({
  begin: (attempt, grant) => begin(deps, attempt, grant),
  complete: (completion, grant) => complete(deps, completion, grant),
  async confirm(attempt) {
    const name = normalName(attempt.username)
    const assertAllowed = await addressCheck(deps, sourceOf(attempt, name))
    assertAllowed()
    return deps.attempts(name, () => verify(deps, name, attempt, assertAllowed))
  },
})

async function begin<T>(deps: LoginDeps, attempt: Attempt, grant: Grant<T>) {
  const { database, clock, passwords, lockout, pending, attempts } = deps
  const name = normalName(attempt.username)
  const assertAllowed = await addressCheck(deps, sourceOf(attempt, name))
  assertAllowed()
  assertPasswordSize(attempt.password)
  return attempts(name, async () => {
    const verified = await verify(deps, name, attempt, assertAllowed)
    await assertAdmitted(deps, verified)
    const outdated = !passwords.isCurrent(verified.password_hash)
    const rehashed = outdated ? await passwords.hash(attempt.password) : undefined
    const accounts = await accountsOf(grant, verified.id)
    return database.write({ accounts, keys: [name] }, async (tx) => {
      // The account may have changed during the hashing, here or in another process.
      await lockout.assertOpen(tx, name)
      const account = await accountById(tx, verified.id)
      const same = account?.disabled_at === null && account.password_hash === verified.password_hash
      if (!same) throw fault('invalid_credentials')
      if (rehashed) await updateAccount(tx, account.id, { password_hash: rehashed }, clock.now())
      await grant.replace?.(tx)
      if (account.two_factor_since === null) return finish(deps, tx, account, grant, attempt)
      return { pending_token: await pending.open(tx, grant.kind, account.id, attempt.device) }
    })
  })
}

async function complete<T>(deps: LoginDeps, completion: Completion, grant: Grant<T>) {
  const { database, addressThrottle, pending, codeVerifier } = deps
  const { pending_token, code, ip, userAgent } = completion
  const source = sourceOf(completion, pending_token)
  const assertAllowed = await addressCheck(deps, source)
  assertAllowed()
  // Wrong, expired and used codes get the same response.
  const refused = () => {
    addressThrottle.failed(source)
    return fault('invalid_code')
  }
  const waiting = await pending.find(database.read, grant.kind, pending_token)
  const known = waiting && (await accountById(database.read, waiting.user_id))
  if (known?.disabled_at !== null) throw refused()
  await codeVerifier.assertOpen(database.read, known.id)
  // Checked before the code: a refusal afterwards would reveal that it was right without consuming it.
  await assertAdmitted(deps, known)
  const proof = await codeVerifier.read(known.id, code, 'login')
  assertAllowed()
  const accounts = await accountsOf(grant, known.id)
  const finished = await database.write({ accounts, keys: [known.username] }, async (tx) => {
    await codeVerifier.assertOpen(tx, known.id)
    const login = await pending.find(tx, grant.kind, pending_token)
    const account = await accountById(tx, known.id)
    if (!login || !pending.isOpen(login) || account?.disabled_at !== null) return undefined
    if (!(await codeVerifier.use(tx, account.id, proof, 'login', originOf({ ip, userAgent })))) {
      await pending.miss(tx, login)
      return undefined
    }
    if (!(await pending.take(tx, login))) return undefined
    await grant.replace?.(tx)
    return finish(deps, tx, account, grant, { ip, userAgent, device: deviceOf(login) })
  })
  if (!finished) throw refused()
  return finished
}

/** Verifies a password. Unknown names, disabled accounts and wrong passwords get the same response after the same work. */
async function verify(
  { database, lockout, passwords, addressThrottle, audit }: LoginDeps,
  name: string,
  attempt: Attempt,
  assertAllowed: () => void,
): Promise<Account> {
  const { password, ip, userAgent } = attempt
  await lockout.assertOpen(database.read, name)
  const account = await accountByName(database.read, name)
  const right = await passwords.matches(password, account?.password_hash, assertAllowed)
  if (right && account?.disabled_at === null) {
    // Another server may have counted the last failure during the hashing.
    await lockout.assertOpen(database.read, name)
    return account
  }
  addressThrottle.failed(sourceOf(attempt, name))
  const accounts = account ? [account.id] : []
  await database.write({ accounts, keys: [name] }, async (tx) => {
    // Never log the typed name: it may be a password.
    const failure = { from: originOf({ ip, userAgent }), about: account?.id }
    const locked = await lockout.fail(tx, name)
    await audit.record(tx, { kind: 'login.failed', ...failure })
    if (locked) await audit.record(tx, { kind: 'login.locked', ...failure })
  })
  if (lockout.isPruneDue()) await database.write('instance', (tx) => lockout.prune(tx))
  throw fault('invalid_credentials')
}

async function accountsOf<T>({ replaced }: Grant<T>, user: number): Promise<number[]> {
  const other = await replaced?.()
  return other === undefined ? [user] : [user, other]
}

const sourceOf = ({ ip, isShared }: Pick<Attempt, 'ip' | 'isShared'>, subject: string): LoginSource =>
  isShared ? { ip, subject } : { ip }

/** Returns the check of the address; it runs again after waiting in the queue. */
async function addressCheck({ policy, addressThrottle }: LoginDeps, source: LoginSource): Promise<() => void> {
  const { limitsOn } = await policy()
  return () => {
    if (limitsOn) addressThrottle.assertAllowed(source)
  }
}

async function assertAdmitted({ maintenance }: LoginDeps, account: Account): Promise<void> {
  const closed = await maintenance()
  if (closed && account.role !== 'admin') throw closed
}

async function finish<T>(
  { lockout, clock, audit }: LoginDeps,
  tx: Writer,
  account: Account,
  grant: Grant<T>,
  { ip, userAgent, device }: LoginOrigin,
): Promise<Granted<T>> {
  await lockout.clear(tx, account.username)
  await stampLogin(tx, account.id, clock.now())
  const from = originOf({ ip, userAgent })
  await audit.record(tx, { kind: 'login.ok', by: account.id, from, detail: { kind: grant.kind } })
  return { account, issued: await grant.issue(tx, account, device) }
}

interface LoginOrigin {
  ip: string
  userAgent?: string | undefined
  device?: DeviceNames | undefined
}

const originOf = ({ ip, userAgent = '' }: LoginOrigin) => ({ ip, userAgent })

const deviceOf = ({ device_id, device_name }: { device_id: string | null; device_name: string | null }) =>
  device_id === null || device_name === null ? undefined : { device_id, device_name }
