import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  adminIds,
  lockAdmins,
  insertAccount,
  listAccounts,
  type NewAccount,
} from '../../src/storage/accounts/accounts.ts'
import type { Database } from '../../src/storage/engine/database.ts'
import {
  devicesOf,
  holderOf,
  replaceToken,
  touchToken,
  type Lifetime,
} from '../../src/storage/accounts/device-tokens.ts'
import { locks, pruneThrottles, storeThrottle, throttleOf } from '../../src/storage/accounts/login-throttles.ts'
import { migrate } from '../../src/storage/engine/migrations/migrate.ts'
import { insertPendingLogin, pendingLogin, takePendingLogin } from '../../src/storage/accounts/pending-logins.ts'
import { enableSecondFactor, storePendingSecret, takeStep } from '../../src/storage/accounts/second-factors.ts'
import { openSqlite } from '../../src/storage/engine/sqlite.ts'
import { temporaryFolder } from '../support/folder.ts'

const NOW = 1_000_000

async function makeDatabase(): Promise<Database> {
  const folder = await temporaryFolder()
  const database = openSqlite(join(folder, 'svc.db'))
  onTestFinished(async () => {
    await database.close()
    await rm(folder, { recursive: true })
  })
  await migrate(database)
  return database
}

const account = (username: string, more: Partial<NewAccount> = {}): NewAccount => ({
  username,
  display_name: username,
  avatar_color: '#000000',
  role: 'user',
  password_hash: 'x',
  quota_bytes: null,
  ...more,
})

const add = async (database: Database, username: string, more?: Partial<NewAccount>) =>
  (await database.write('instance', (tx) => insertAccount(tx, account(username, more), NOW)))!

const forEver: Lifetime = { now: NOW, idleSince: -1, madeSince: -1 }

const token = (user_id: number, device_id: string, more = {}) => ({
  user_id,
  device_id,
  device_name: device_id,
  token_hash: `hash of ${device_id} of ${user_id}`,
  created_at: NOW,
  last_used_at: null,
  last_ip: null,
  expires_at: null,
  ...more,
})

describe('accounts', () => {
  test('a name that is taken stores nothing', async () => {
    const database = await makeDatabase()
    await add(database, 'ada')
    expect(await database.write('instance', (tx) => insertAccount(tx, account('ada'), NOW))).toBeUndefined()
    expect(await database.read.q.selectFrom('nodes').selectAll().execute()).toHaveLength(1)
    expect(await database.read.q.selectFrom('counters').selectAll().execute()).toHaveLength(1)
  })

  test('administrators are those who can sign in; holding them changes nothing', async () => {
    const database = await makeDatabase()
    const root = await add(database, 'root', { role: 'admin' })
    const kim = await add(database, 'kim', { role: 'admin' })
    await add(database, 'ada')
    const before = await database.read.q.selectFrom('users').selectAll().execute()
    expect(await adminIds(database.read)).toEqual([root, kim])
    expect((await database.write('instance', lockAdmins)).sort()).toEqual([root, kim])
    expect(await database.read.q.selectFrom('users').selectAll().execute()).toEqual(before)
    await database.write('instance', (tx) =>
      tx.q.updateTable('users').set({ disabled_at: NOW }).where('id', '=', root).execute(),
    )
    expect(await adminIds(database.read)).toEqual([kim])
    expect(await database.write('instance', lockAdmins)).toEqual([kim])
  })

  test('the list counts living devices of each', async () => {
    const database = await makeDatabase()
    const [ada, bob] = [await add(database, 'ada'), await add(database, 'bob')]
    await database.write('instance', async (tx) => {
      await replaceToken(tx, token(ada, 'laptop'), forEver, 20)
      await replaceToken(tx, token(ada, 'phone', { expires_at: NOW + 5 }), forEver, 20)
      await replaceToken(tx, token(bob, 'laptop'), forEver, 20)
    })
    const counts = async (lifetime: Lifetime) =>
      (await listAccounts(database.read, { lifetime, sessions: { idleSince: 0, madeSince: 0 } })).map(
        ({ username, devices }) => [username, devices],
      )
    expect(await counts(forEver)).toEqual([
      ['ada', 2],
      ['bob', 1],
    ])
    expect(await counts({ ...forEver, now: NOW + 5 })).toEqual([
      ['ada', 1],
      ['bob', 1],
    ])
    expect(await counts({ ...forEver, madeSince: NOW })).toEqual([
      ['ada', 0],
      ['bob', 0],
    ])
  })
})

describe('device tokens', () => {
  test('count from the last use, or from the making until there is one', async () => {
    const database = await makeDatabase()
    const ada = await add(database, 'ada')
    const id = await database.write('instance', (tx) => replaceToken(tx, token(ada, 'laptop'), forEver, 20))
    const holder = (lifetime: Lifetime) => holderOf(database.read, `hash of laptop of ${ada}`, lifetime)
    expect(await holder({ ...forEver, idleSince: NOW - 1 })).toMatchObject({
      token_id: id,
      user_id: ada,
      last_used_at: null,
    })
    expect(await holder({ ...forEver, idleSince: NOW })).toBeUndefined()
    await database.write('instance', (tx) => touchToken(tx, id, NOW + 10, NOW, '::1'))
    expect(await holder({ ...forEver, idleSince: NOW })).toMatchObject({ last_used_at: NOW + 10 })
    await database.write('instance', (tx) => touchToken(tx, id, NOW + 20, NOW + 9, '::2'))
    expect(await holder(forEver)).toMatchObject({ last_used_at: NOW + 10 })
    expect(await holderOf(database.read, 'another', forEver)).toBeUndefined()
  })

  test('that are over make room before one that is in use', async () => {
    const database = await makeDatabase()
    const ada = await add(database, 'ada')
    const lifetime = { ...forEver, idleSince: NOW - 100 }
    await database.write('instance', async (tx) => {
      await replaceToken(tx, token(ada, 'used', { last_used_at: NOW - 50 }), lifetime, 2)
      await replaceToken(tx, token(ada, 'over', { created_at: NOW - 500 }), lifetime, 2)
      await replaceToken(tx, token(ada, 'new'), lifetime, 2)
    })
    expect((await devicesOf(database.read, ada, forEver)).map(({ device_id }) => device_id)).toEqual(['new', 'used'])
  })
})

test('a pending login is known under its kind only, until its time is over or it is taken', async () => {
  const database = await makeDatabase()
  const ada = await add(database, 'ada')
  const login = {
    kind: 'sync',
    token_hash: 'h',
    user_id: ada,
    device_id: 'd',
    device_name: 'n',
    expires_at: NOW + 5,
  } as const
  await database.write('instance', (tx) => insertPendingLogin(tx, login, 3))
  const found = await pendingLogin(database.read, 'sync', 'h', NOW)
  expect(found).toEqual({ id: expect.any(Number) as number, user_id: ada, device_id: 'd', device_name: 'n', tries: 0 })
  expect(await pendingLogin(database.read, 'session', 'h', NOW)).toBeUndefined()
  expect(await pendingLogin(database.read, 'sync', 'h', NOW + 5)).toBeUndefined()
  const taken = await Promise.all([1, 2].map(() => database.write('instance', (tx) => takePendingLogin(tx, found!.id))))
  expect(taken).toEqual([true, false])
})

test('a step is taken once, and only forwards', async () => {
  const database = await makeDatabase()
  const ada = await add(database, 'ada')
  await database.write('instance', async (tx) => {
    await storePendingSecret(tx, ada, 'sealed', NOW)
    await enableSecondFactor(tx, ada, 'sealed', 100, NOW)
  })
  const take = (step: number) => database.write('instance', (tx) => takeStep(tx, ada, step))
  expect(await Promise.all([99, 100, 100, 102, 101].map(take))).toEqual([false, true, false, true, false])
})

test('throttles are pruned: what is over, then what is not locked, then the lock that ends first', async () => {
  const database = await makeDatabase()
  await database.write('instance', async (tx) => {
    await storeThrottle(tx, 'over', { failedAt: [1], lockedUntil: 0 }, NOW)
    await storeThrottle(tx, 'failed', { failedAt: [1, 2], lockedUntil: 0 }, NOW + 30)
    await storeThrottle(tx, 'locked', { failedAt: [], lockedUntil: NOW + 10 }, NOW + 10)
    await storeThrottle(tx, 'longer', { failedAt: [], lockedUntil: NOW + 20 }, NOW + 20)
  })
  const names = async (max: number) => {
    await database.write('instance', (tx) => pruneThrottles(tx, NOW, max))
    const rows = await database.read.q.selectFrom('login_throttles').select('name_hash').orderBy('name_hash').execute()
    return rows.map(({ name_hash }) => name_hash)
  }
  expect(await names(10)).toEqual(['failed', 'locked', 'longer'])
  expect(await throttleOf(database.read, 'failed')).toEqual({ failedAt: [1, 2], lockedUntil: 0 })
  expect(await locks(database.read, NOW)).toEqual(
    new Map([
      ['locked', NOW + 10],
      ['longer', NOW + 20],
    ]),
  )
  expect(await names(2)).toEqual(['locked', 'longer'])
  expect(await names(1)).toEqual(['longer'])
})
