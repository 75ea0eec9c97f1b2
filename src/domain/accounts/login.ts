import type { Clock } from '../../base/clock.ts'
import { fault, type Fault } from '../../contract/errors.ts'
import { accountById, accountByName, stampLogin, updateAccount, type Account } from '../../storage/accounts/accounts.ts'
import type { Database, Writer } from '../../storage/engine/database.ts'
import type { LoginKind } from '../../storage/accounts/pending-logins.ts'
import type { Audit } from '../instance/instance.ts'
import type { Addresses, Sender } from './addresses.ts'
import type { CodeStep } from './code-step.ts'
import type { Lockout } from './lockout.ts'
import { assertPasswordSize, type Passwords } from './passwords.ts'
import type { DeviceNames, PendingLogins } from './pending.ts'
import type { QueuePerKey } from './queue.ts'
import { normalName } from './usernames.ts'

export interface Attempt {
  username: string
  password: string
  ip: string
  userAgent?: string
  /** Whether the address is that of a proxy nobody named. */
  isShared?: boolean
  /** The device a sync login is for. */
  device?: DeviceNames
}

export interface Completion {
  pending_token: string
  code: string
  ip: string
  userAgent?: string
  isShared?: boolean
}

/** What a completed login hands out, written in the transaction that completes it. */
export interface Grant<T> {
  kind: LoginKind
  give: (tx: Writer, account: Account, device: DeviceNames | undefined) => Promise<T>
  /** Ends what the login takes the place of, in the transaction that accepts the password or the code. */
  replace?: (tx: Writer) => Promise<void>
}

export interface Granted<T> {
  account: Account
  given: T
}

export interface Login {
  /**
   * Checks a password. Gives what `grant` hands out, or a pending token when a second factor is needed. Throws
   * `invalid_credentials`, `account_locked`, `rate_limited`, `busy`; `maintenance` only after a right password.
   */
  begin<T>(attempt: Attempt, grant: Grant<T>): Promise<Granted<T> | { pending_token: string }>
  /** Completes a login of the same kind with a code. Throws `invalid_code`, `account_locked`, `rate_limited`, `busy`, `maintenance`. */
  complete<T>(completion: Completion, grant: Grant<T>): Promise<Granted<T>>
  /** Asks somebody who is signed in for their password again: checked, counted and refused like that of a login. */
  confirm(attempt: Attempt): Promise<Account>
}

export interface LoginDeps {
  database: Database
  clock: Clock
  passwords: Passwords
  lockout: Lockout
  addresses: Addresses
  pending: PendingLogins
  codeStep: CodeStep
  /** One attempt after the other for each name, so that parallel guesses cannot pass the limit. */
  turns: QueuePerKey
  audit: Audit
  policy: () => Promise<{ limitsOn: boolean }>
  /** What a login of somebody who is no administrator is refused with; undefined outside maintenance. */
  maintenance: () => Promise<Fault | undefined>
}

/** Logins of every kind. */
export const makeLogin = (deps: LoginDeps): Login => ({
  begin: (attempt, grant) => begin(deps, attempt, grant),
  complete: (completion, grant) => complete(deps, completion, grant),
  async confirm(attempt) {
    const name = normalName(attempt.username)
    const assertWelcome = await doorkeeper(deps, senderOf(attempt, name))
    assertWelcome()
    return deps.turns(name, () => verify(deps, name, attempt, assertWelcome))
  },
})

async function begin<T>(deps: LoginDeps, attempt: Attempt, grant: Grant<T>) {
  const { database, clock, passwords, lockout, pending, turns } = deps
  const name = normalName(attempt.username)
  const assertWelcome = await doorkeeper(deps, senderOf(attempt, name))
  assertWelcome()
  assertPasswordSize(attempt.password)
  return turns(name, async () => {
    const verified = await verify(deps, name, attempt, assertWelcome)
    await assertAdmitted(deps, verified)
    const outdated = !passwords.isCurrent(verified.password_hash)
    const rehashed = outdated ? await passwords.hash(attempt.password) : undefined
    return database.write(async (tx) => {
      // What was true before the hashing may have changed during it, here or in another process.
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
  const { database, addresses, pending, codeStep } = deps
  const { pending_token, code, ip, userAgent } = completion
  const sender = senderOf(completion, pending_token)
  const assertWelcome = await doorkeeper(deps, sender)
  assertWelcome()
  // Wrong, expired and used up are one answer.
  const refused = () => {
    addresses.failed(sender)
    return fault('invalid_code')
  }
  const waiting = await pending.find(database.read, grant.kind, pending_token)
  const known = waiting && (await accountById(database.read, waiting.user_id))
  if (known?.disabled_at !== null) throw refused()
  await codeStep.assertOpen(database.read, known.id)
  // Before the code is looked at: a refusal afterwards would tell that it was right without using it up.
  await assertAdmitted(deps, known)
  const proof = await codeStep.read(known.id, code, 'login')
  assertWelcome()
  const finished = await database.write(async (tx) => {
    await codeStep.assertOpen(tx, known.id)
    const login = await pending.find(tx, grant.kind, pending_token)
    const account = await accountById(tx, known.id)
    if (!login || !pending.isOpen(login) || account?.disabled_at !== null) return undefined
    if (!(await codeStep.use(tx, account.id, proof, 'login', placeOf({ ip, userAgent })))) {
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

/** The account whose password this is. Somebody unknown, disabled or wrong gets one answer, after the same work. */
async function verify(
  { database, lockout, passwords, addresses, audit }: LoginDeps,
  name: string,
  attempt: Attempt,
  assertWelcome: () => void,
): Promise<Account> {
  const { password, ip, userAgent } = attempt
  await lockout.assertOpen(database.read, name)
  const account = await accountByName(database.read, name)
  const right = await passwords.matches(password, account?.password_hash, assertWelcome)
  if (right && account?.disabled_at === null) return account
  addresses.failed(senderOf(attempt, name))
  await database.write(async (tx) => {
    // Never the name as it was typed: now and then that is a password.
    const failure = { from: placeOf({ ip, userAgent }), about: account?.id }
    const locked = await lockout.fail(tx, name)
    await audit.record(tx, { kind: 'login.failed', ...failure })
    if (locked) await audit.record(tx, { kind: 'login.locked', ...failure })
  })
  throw fault('invalid_credentials')
}

const senderOf = ({ ip, isShared }: Pick<Attempt, 'ip' | 'isShared'>, about: string): Sender =>
  isShared ? { ip, about } : { ip }

/** Throws when called while too many logins from this address failed lately. */
async function doorkeeper({ policy, addresses }: LoginDeps, sender: Sender): Promise<() => void> {
  const { limitsOn } = await policy()
  return () => {
    if (limitsOn) addresses.assertWelcome(sender)
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
  { ip, userAgent, device }: Where,
): Promise<Granted<T>> {
  await lockout.clear(tx, account.username)
  await stampLogin(tx, account.id, clock.now())
  const from = placeOf({ ip, userAgent })
  await audit.record(tx, { kind: 'login.ok', by: account.id, from, detail: { kind: grant.kind } })
  return { account, given: await grant.give(tx, account, device) }
}

/** Where a login comes from and what device it is for. */
interface Where {
  ip: string
  userAgent?: string | undefined
  device?: DeviceNames | undefined
}

const placeOf = ({ ip, userAgent = '' }: Where) => ({ ip, userAgent })

const deviceOf = ({ device_id, device_name }: { device_id: string | null; device_name: string | null }) =>
  device_id === null || device_name === null ? undefined : { device_id, device_name }
