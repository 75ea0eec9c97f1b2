import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { DAY } from '../../../src/base/clock.ts'
import type { Fault } from '../../../src/contract/errors.ts'
import { isFault } from '../../../src/contract/errors.ts'
import { deriveKeys, makeAccounts, type AccountPolicy, type Accounts } from '../../../src/domain/accounts/accounts.ts'
import { makeAudit } from '../../../src/domain/instance/instance.ts'
import type { Database } from '../../../src/storage/engine/database.ts'
import { shapes } from '../../../src/domain/sync/sync.ts'
import { migrate } from '../../../src/storage/engine/migrations/migrate.ts'
import { ensureTables } from '../../../src/storage/engine/synchronised-tables.ts'
import { openSqlite } from '../../../src/storage/engine/sqlite.ts'
import { temporaryFolder } from '../../support/folder.ts'

export const PASSWORD = 'analytical engine'
export const IP = '192.0.2.7'

/** A fixed point in the middle of a TOTP step. */
const START = Date.UTC(2026, 10, 21, 12, 0, 15)

export interface World {
  accounts: Accounts
  database: Database
  clock: { now(): number; pass(ms: number): void }
  policy: AccountPolicy
  /** Set to put the service under maintenance. */
  maintenance: { fault: Fault | undefined }
  /** A second process on the same database. */
  elsewhere(): Accounts
  login(username: string, password?: string, more?: { ip?: string; device_id?: string }): ReturnType<Accounts['login']>
  /** A token for a user, whose password is the usual one. */
  token(username: string, device_id?: string): Promise<string>
}

/** Accounts on a database of their own, with a clock that moves when told to. */
export async function makeWorld(): Promise<World> {
  const folder = await temporaryFolder()
  const file = join(folder, 'svc.db')
  const opened: Database[] = []
  onTestFinished(async () => {
    for (const database of opened) await database.close()
    await rm(folder, { recursive: true })
  })
  const open = () => {
    const database = openSqlite(file)
    opened.push(database)
    return database
  }
  const database = open()
  await migrate(database)
  await ensureTables(database, shapes)

  let now = START
  const clock = { now: () => now, pass: (ms: number) => void (now += ms) }
  const policy: AccountPolicy = {
    deviceIdleMs: 90 * DAY,
    deviceMaxMs: 365 * DAY,
    limitsOn: true,
    defaultQuotaBytes: 10 * 1024 ** 3,
    hostName: 'cloud.example.org',
  }
  const maintenance: World['maintenance'] = { fault: undefined }
  const build = (on: Database) =>
    makeAccounts({
      database: on,
      unattended: on,
      clock,
      files: { slice: (work) => work(), settleTrees: () => Promise.resolve() },
      audit: makeAudit({ database: on, clock, operator: 'system' }),
      keys: deriveKeys(new Uint8Array(32).fill(7)),
      policy: () => Promise.resolve(policy),
      maintenance: () => Promise.resolve(maintenance.fault),
    })
  const accounts = build(database)
  const login: World['login'] = (username, password = PASSWORD, { ip = IP, device_id = 'laptop-0001' } = {}) =>
    accounts.login({ username, password, device_id, device_name: 'Laptop', ip })
  return {
    accounts,
    database,
    clock,
    policy,
    maintenance,
    elsewhere: () => build(open()),
    login,
    async token(username, device_id = 'laptop-0001') {
      const begun = await login(username, PASSWORD, { device_id })
      if (!('token' in begun)) throw new Error('A second factor is needed.')
      return begun.token
    },
  }
}

/** The code an attempt was refused with, or `ok`. */
export const outcome = (attempt: Promise<unknown>): Promise<string> =>
  attempt.then(
    () => 'ok',
    (error: unknown) => {
      if (isFault(error)) return error.code
      throw error
    },
  )

/** The fault an attempt is refused with. */
export const refusal = (attempt: Promise<unknown>): Promise<Fault> =>
  attempt.then(
    () => {
      throw new Error('It was not refused.')
    },
    (error: unknown) => {
      if (isFault(error)) return error
      throw error
    },
  )

/** How many of each outcome there were. */
export function tally(outcomes: string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const each of outcomes) counts[each] = (counts[each] ?? 0) + 1
  return counts
}
