import { describe, expect, test } from 'vitest'
import { DAY, HOUR, MINUTE } from '../../../src/base/clock.ts'
import type { UserOrder } from '../../../src/domain/accounts/accounts.ts'
import { IP, makeWorld, outcome, PASSWORD } from './world.ts'

const place = { ip: IP, userAgent: 'Browser' }

async function withPeople() {
  const world = await makeWorld()
  const { accounts, clock, database } = world
  const root = await accounts.create({ username: 'root', password: PASSWORD, role: 'admin' })
  clock.pass(DAY)
  const ada = await accounts.create({
    username: 'ada',
    password: PASSWORD,
    display_name: 'Ada LOVELACE',
    quota_bytes: 100,
  })
  clock.pass(DAY)
  const bob = await accounts.create({
    username: 'bob',
    password: PASSWORD,
    display_name: 'Jose\u0301',
    quota_bytes: -1,
  })
  const uses = (id: number, used_bytes: number) =>
    database.write('instance', (tx) =>
      tx.q.updateTable('counters').set({ used_bytes }).where('user_id', '=', id).execute(),
    )
  const names = async (filter: Parameters<typeof accounts.list>[0]) =>
    (await accounts.list(filter)).map(({ username }) => username)
  return { ...world, root, ada, bob, uses, names }
}

describe('an account was last seen', () => {
  test('at its last login, or when a device or a session was used after it', async () => {
    const { accounts, ada, clock, database, token } = await withPeople()
    const seen = async () => (await accounts.details('ada')).last_seen_at
    expect(await seen()).toBeNull()
    const key = await token('ada')
    const login = clock.now()
    expect(await seen()).toBe(login)
    clock.pass(HOUR)
    const cookie = await database.write('instance', (tx) => accounts.sessions.begin(tx, ada.id, place))
    expect(await seen()).toBe(login + HOUR)
    clock.pass(HOUR)
    await accounts.authenticateDevice(key, IP)
    // The use is noted beside the request, by the next write.
    await database.write('instance', () => Promise.resolve())
    expect(await seen()).toBe(login + 2 * HOUR)
    clock.pass(HOUR)
    await accounts.sessions.authenticate(cookie, IP)
    await database.write('instance', () => Promise.resolve())
    expect(await seen()).toBe(login + 3 * HOUR)
    expect(await accounts.details('ada')).toMatchObject({ last_login_at: login, devices: 1, sessions: 1 })
  })

  test('also when the device or session is over', async () => {
    const { accounts, ada, clock, database } = await withPeople()
    await database.write('instance', (tx) => accounts.sessions.begin(tx, ada.id, place))
    const then = clock.now()
    clock.pass(2 * DAY)
    expect(await accounts.details('ada')).toMatchObject({ last_seen_at: then, sessions: 0 })
  })
})

describe('a list has only those', () => {
  test('of a role, enabled, disabled, or without a second factor', async () => {
    const { accounts, ada, bob, names, clock } = await withPeople()
    const { secret } = await accounts.twoFactor.setUp(ada.id, 'svc')
    const { generateSync } = await import('otplib')
    await accounts.twoFactor.enable(ada.id, generateSync({ secret, epoch: Math.floor(clock.now() / 1_000) }))
    await accounts.disable(bob.id)
    expect(await names({ role: 'admin' })).toEqual(['root'])
    expect(await names({ disabled: true })).toEqual(['bob'])
    expect(await names({ disabled: false })).toEqual(['ada', 'root'])
    expect(await names({ without2fa: true })).toEqual(['bob', 'root'])
    expect(await names({ without2fa: true, disabled: false, role: 'user' })).toEqual([])
    expect(await names({})).toEqual(['ada', 'bob', 'root'])
  })

  test('whom wrong passwords or wrong codes lock, for as long as they do', async () => {
    const { accounts, ada, bob, names, clock, database, login } = await withPeople()
    await accounts.twoFactor.setUp(ada.id, 'svc')
    await accounts.twoFactor.setUp(bob.id, 'svc')
    for (let time = 0; time < 5; time += 1) await outcome(login('root', 'wrong password'))
    const locks = (id: number, values: { failures: number; locked_until: number }) =>
      database.write('instance', (tx) =>
        tx.q.updateTable('second_factors').set(values).where('user_id', '=', id).execute(),
      )
    await locks(ada.id, { failures: 5, locked_until: clock.now() + MINUTE })
    await locks(bob.id, { failures: 100, locked_until: 0 })
    expect(await names({ locked: true })).toEqual(['ada', 'bob', 'root'])
    expect(await accounts.details('root')).toMatchObject({ locked: true, locked_until: clock.now() + 15 * MINUTE })
    expect(await accounts.details('ada')).toMatchObject({ locked: true, codes_locked_until: clock.now() + MINUTE })
    expect(await accounts.details('bob')).toMatchObject({ locked: true, codes_closed: true })
    clock.pass(MINUTE)
    expect(await names({ locked: true })).toEqual(['bob', 'root'])
    clock.pass(DAY)
    expect(await names({ locked: true })).toEqual(['bob'])
    expect(await accounts.unlock(bob.id)).toBe(true)
    expect(await accounts.unlock(bob.id)).toBe(false)
    expect(await names({ locked: true })).toEqual([])
  })

  test('who were not seen for a time, to the millisecond; who never was counts from the making', async () => {
    const { clock, names, token } = await withPeople()
    await token('root')
    clock.pass(DAY - 1)
    expect(await names({ inactive: DAY })).toEqual(['ada'])
    clock.pass(1)
    expect(await names({ inactive: DAY })).toEqual(['ada', 'bob', 'root'])
    expect(await names({ inactive: 2 * DAY })).toEqual(['ada'])
    expect(await names({ inactive: 2 * DAY + 1 })).toEqual([])
  })

  test('with a text in the user name or the name shown, however it is written', async () => {
    const { names } = await withPeople()
    expect(await names({ search: 'LoveL' })).toEqual(['ada'])
    expect(await names({ search: 'B' })).toEqual(['bob'])
    expect(await names({ search: 'jos\u00e9' })).toEqual(['bob'])
    expect(await names({ search: 'o' })).toEqual(['ada', 'bob', 'root'])
    for (const search of ['%', '_', '*', '\\', "'"]) expect(await names({ search })).toEqual([])
    expect(await names({ search: '' })).toEqual(['ada', 'bob', 'root'])
  })
})

test('a list is in the order asked for, equal ones by name, or the other way round', async () => {
  const { ada, bob, root, clock, names, token, uses } = await withPeople()
  await uses(ada.id, 90)
  await uses(bob.id, 5_000)
  await uses(root.id, 90)
  await token('root')
  clock.pass(HOUR)
  await token('bob')
  const orders: Record<UserOrder, string[]> = {
    name: ['ada', 'bob', 'root'],
    used: ['bob', 'ada', 'root'],
    percent: ['ada', 'root', 'bob'],
    seen: ['bob', 'root', 'ada'],
    created: ['bob', 'ada', 'root'],
  }
  for (const [sort, expected] of Object.entries(orders) as [UserOrder, string[]][]) {
    expect(await names({ sort }), sort).toEqual(expected)
    expect(await names({ sort, reverse: true }), sort).toEqual(expected.toReversed())
  }
})

test('a quota is full by whole percent, rounded down; without a limit it is not, and an empty one always is', async () => {
  const { accounts, ada, bob, uses } = await withPeople()
  const percent = async (name: string) => (await accounts.details(name)).percent_used
  await uses(ada.id, 99)
  expect([await percent('ada'), await percent('bob'), await percent('root')]).toEqual([99, null, 0])
  await uses(ada.id, 250)
  await accounts.update(bob.id, { quota_bytes: 0 })
  expect([await percent('ada'), await percent('bob')]).toEqual([250, 100])
})
