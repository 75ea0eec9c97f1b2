import { describe, expect, test } from 'vitest'
import { DAY, MINUTE, SECOND } from '../../../src/base/clock.ts'
import { IP, makeWorld, outcome, PASSWORD } from './world.ts'

/** Waits until what was written beside a request is written: writes are done in order. */
const settle = (world: Awaited<ReturnType<typeof makeWorld>>) =>
  world.database.write('instance', () => Promise.resolve())

const withAda = async () => {
  const world = await makeWorld()
  const ada = await world.accounts.create({ username: 'ada', password: PASSWORD })
  return { ...world, world, ada }
}

describe('a device token', () => {
  test.each([
    ['nothing', ''],
    ['too short', 'a'.repeat(63)],
    ['too long', 'a'.repeat(65)],
    ['upper case', 'A'.repeat(64)],
    ['no hex', 'g'.repeat(64)],
    ['a pending token', `p_${'a'.repeat(64)}`],
    ['a line break behind it', `${'a'.repeat(64)}\n`],
  ])('that is malformed (%s) is refused without asking the database', async (_, token) => {
    const { accounts, database } = await withAda()
    let asked = 0
    const { run } = database.read
    database.read.run = (query) => {
      asked += 1
      return run.call(database.read, query) as never
    }
    expect(await accounts.authenticateDevice(token, IP)).toBeUndefined()
    expect(asked).toBe(0)
    expect(await accounts.authenticateDevice('a'.repeat(64), IP)).toBeUndefined()
    expect(asked).toBe(1)
  })

  test('is replaced by the next login of the same device, and only by that', async () => {
    const { accounts, ada, token } = await withAda()
    const first = await token('ada', 'laptop-0001')
    const phone = await token('ada', 'phone-0001')
    const second = await token('ada', 'laptop-0001')
    expect(await accounts.authenticateDevice(first, IP)).toBeUndefined()
    expect(await accounts.authenticateDevice(second, IP)).toBeDefined()
    expect(await accounts.authenticateDevice(phone, IP)).toBeDefined()
    expect(await accounts.devices(ada.id)).toHaveLength(2)
  })

  test('of one user is left alone when another user has a device of the same id', async () => {
    const { accounts, token } = await withAda()
    await accounts.create({ username: 'bob', password: PASSWORD })
    const hers = await token('ada', 'laptop-0001')
    const his = await token('bob', 'laptop-0001')
    expect((await accounts.authenticateDevice(hers, IP))?.user.username).toBe('ada')
    expect((await accounts.authenticateDevice(his, IP))?.user.username).toBe('bob')
  })

  test('ends after 90 days without use, and each use begins them anew', async () => {
    const { world, accounts, ada, token, clock } = await withAda()
    const key = await token('ada')
    clock.pass(90 * DAY - 1)
    expect(await accounts.authenticateDevice(key, IP)).toBeDefined()
    await settle(world)
    clock.pass(90 * DAY - 1)
    expect(await accounts.authenticateDevice(key, IP)).toBeDefined()
    await settle(world)
    clock.pass(90 * DAY)
    expect(await accounts.authenticateDevice(key, IP)).toBeUndefined()
    expect(await accounts.devices(ada.id)).toEqual([])
  })

  test('ends after 365 days, however much it is used', async () => {
    const { world, accounts, token, clock } = await withAda()
    const key = await token('ada')
    const made = clock.now()
    for (let month = 0; month < 12; month += 1) {
      clock.pass(30 * DAY)
      const caller = await accounts.authenticateDevice(key, IP)
      expect(caller?.device.expires_at).toBe(made + 365 * DAY)
      await settle(world)
    }
    clock.pass(5 * DAY - 1)
    expect(await accounts.authenticateDevice(key, IP)).toBeDefined()
    clock.pass(1)
    expect(await accounts.authenticateDevice(key, IP)).toBeUndefined()
  })

  test('lasts for ever where the settings say so, and follows them when they change', async () => {
    const { accounts, token, clock, policy } = await withAda()
    policy.deviceIdleMs = 0
    policy.deviceMaxMs = 0
    const key = await token('ada')
    clock.pass(5_000 * DAY)
    expect((await accounts.authenticateDevice(key, IP))?.device.expires_at).toBeNull()
    policy.deviceMaxMs = 5_000 * DAY
    expect(await accounts.authenticateDevice(key, IP)).toBeUndefined()
  })

  test('with an end of its own ends then', async () => {
    const { accounts, database, token, clock } = await withAda()
    const key = await token('ada')
    const end = clock.now() + 15 * MINUTE
    await database.write('instance', (tx) => tx.q.updateTable('device_tokens').set({ expires_at: end }).execute())
    expect((await accounts.authenticateDevice(key, IP))?.device.expires_at).toBe(end)
    clock.pass(15 * MINUTE)
    expect(await accounts.authenticateDevice(key, IP)).toBeUndefined()
  })

  test('notes its use at most once a minute, with the address', async () => {
    const { world, accounts, ada, token, clock } = await withAda()
    const key = await token('ada')
    const first = clock.now()
    const noted = async () => {
      await settle(world)
      const [device] = await accounts.devices(ada.id)
      return { at: device!.last_used_at, ip: device!.last_ip }
    }
    expect(await noted()).toEqual({ at: first, ip: IP })
    clock.pass(59 * SECOND)
    const { write } = world.database
    let writes = 0
    world.database.write = (scope, unit) => ((writes += 1), write(scope, unit))
    await accounts.authenticateDevice(key, '198.51.100.9')
    world.database.write = write
    expect(writes).toBe(0)
    expect(await noted()).toEqual({ at: first, ip: IP })
    clock.pass(SECOND)
    await Promise.all(Array.from({ length: 20 }, () => accounts.authenticateDevice(key, '198.51.100.9')))
    expect(await noted()).toEqual({ at: first + MINUTE, ip: '198.51.100.9' })
  })

  test('is accepted even when its use cannot be noted', async () => {
    const { accounts, database, token, clock } = await withAda()
    const key = await token('ada')
    clock.pass(2 * MINUTE)
    const { write } = database
    database.write = () => Promise.reject(new Error('The disk is full.'))
    expect(await accounts.authenticateDevice(key, IP)).toBeDefined()
    database.write = write
    await new Promise((resolve) => setImmediate(resolve))
    expect(await accounts.authenticateDevice(key, IP)).toBeDefined()
  })

  test('of somebody who is disabled or removed ends at once, and does not come back', async () => {
    const { accounts, ada, token } = await withAda()
    const bob = await accounts.create({ username: 'bob', password: PASSWORD })
    const hers = await token('ada')
    const his = await token('bob')
    expect(await accounts.disable(ada.id)).toEqual({ devices: 1, sessions: 0 })
    await accounts.remove(bob.id)
    expect(await accounts.authenticateDevice(hers, IP)).toBeUndefined()
    expect(await accounts.authenticateDevice(his, IP)).toBeUndefined()
    await accounts.enable(ada.id)
    expect(await accounts.authenticateDevice(hers, IP)).toBeUndefined()
    expect(await outcome(token('ada'))).toBe('ok')
  })

  test('is refused as soon as its user is disabled, however that came about', async () => {
    const { accounts, database, token, clock } = await withAda()
    const key = await token('ada')
    await database.write('instance', (tx) => tx.q.updateTable('users').set({ disabled_at: clock.now() }).execute())
    expect(await accounts.authenticateDevice(key, IP)).toBeUndefined()
  })

  test('shows the role and the name as they are now', async () => {
    const { accounts, ada, token } = await withAda()
    const key = await token('ada')
    await accounts.update(ada.id, { role: 'admin', display_name: 'Countess' })
    const caller = await accounts.authenticateDevice(key, IP)
    expect(caller?.user).toMatchObject({ role: 'admin', display_name: 'Countess' })
  })
})

describe('devices', () => {
  test('are listed with the one used last first, without their tokens', async () => {
    const { world, accounts, ada, token, clock } = await withAda()
    const laptop = await token('ada', 'laptop-0001')
    clock.pass(MINUTE)
    await token('ada', 'phone-0001')
    const ids = async () => (await accounts.devices(ada.id)).map(({ device_id }) => device_id)
    expect(await ids()).toEqual(['phone-0001', 'laptop-0001'])
    clock.pass(MINUTE)
    await accounts.authenticateDevice(laptop, IP)
    await settle(world)
    expect(await ids()).toEqual(['laptop-0001', 'phone-0001'])
    const keys = Object.keys((await accounts.devices(ada.id))[0]!).sort()
    expect(keys).toEqual([
      'created_at',
      'device_id',
      'device_name',
      'expires_at',
      'last_ip',
      'last_used_at',
      'token_id',
    ])
  })

  test('are at most twenty: the one unused longest makes room', async () => {
    const { world, accounts, ada, token, clock } = await withAda()
    const oldest = await token('ada', 'device-0')
    for (let index = 1; index < 20; index += 1) {
      clock.pass(MINUTE)
      await token('ada', `device-${index}`)
    }
    clock.pass(MINUTE)
    await accounts.authenticateDevice(oldest, IP)
    await settle(world)
    await token('ada', 'device-20')
    const ids = (await accounts.devices(ada.id)).map(({ device_id }) => device_id)
    expect(ids).toHaveLength(20)
    expect(ids).toContain('device-0')
    expect(ids).not.toContain('device-1')
  })

  test('are revoked by their owner only', async () => {
    const { accounts, ada, token } = await withAda()
    const bob = await accounts.create({ username: 'bob', password: PASSWORD })
    const key = await token('ada')
    const [device] = await accounts.devices(ada.id)
    expect(await outcome(accounts.revokeDevice(bob.id, device!.token_id))).toBe('not_found')
    expect(await accounts.authenticateDevice(key, IP)).toBeDefined()
    await accounts.revokeDevice(ada.id, device!.token_id)
    expect(await accounts.authenticateDevice(key, IP)).toBeUndefined()
    expect(await outcome(accounts.revokeDevice(ada.id, device!.token_id))).toBe('not_found')
  })

  test('log out, twice if need be, and take no other device with them', async () => {
    const { accounts, token } = await withAda()
    const laptop = await token('ada', 'laptop-0001')
    const phone = await token('ada', 'phone-0001')
    const caller = (await accounts.authenticateDevice(laptop, IP))!
    await accounts.logout(caller)
    await accounts.logout(caller)
    expect(await accounts.authenticateDevice(laptop, IP)).toBeUndefined()
    expect(await accounts.authenticateDevice(phone, IP)).toBeDefined()
  })
})
