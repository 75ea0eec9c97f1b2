import { describe, expect, test } from 'vitest'
import { MINUTE, SECOND } from '../../../src/base/clock.ts'
import { fault } from '../../../src/contract/errors.ts'
import { IP, makeWorld, outcome, PASSWORD, refusal, tally } from './world.ts'

const failTimes = async (world: Awaited<ReturnType<typeof makeWorld>>, name: string, times: number) => {
  for (let time = 0; time < times; time += 1)
    expect(await outcome(world.login(name, 'wrong password'))).toBe('invalid_credentials')
}

describe('a login', () => {
  test('gives a token that belongs to the user and the device', async () => {
    const { accounts, login, clock, database } = await makeWorld()
    const ada = await accounts.create({ username: 'ada', password: PASSWORD, display_name: 'Ada Lovelace' })
    const begun = await login('ada')
    expect(begun).toEqual({
      token: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      user: { id: ada.id, username: 'ada', display_name: 'Ada Lovelace' },
    })
    const { token } = begun as { token: string }
    expect(await accounts.authenticateDevice(token, IP)).toEqual({
      user: { id: ada.id, username: 'ada', display_name: 'Ada Lovelace', role: 'user', avatar_color: ada.avatar_color },
      device: {
        token_id: expect.any(Number) as number,
        device_id: 'laptop-0001',
        device_name: 'Laptop',
        allows_code: false,
        expires_at: clock.now() + 365 * 24 * 60 * MINUTE,
      },
    })
    expect((await accounts.byName('ada')).last_login_at).toBe(clock.now())
    const stored = await database.read.q.selectFrom('device_tokens').selectAll().execute()
    expect(JSON.stringify(stored)).not.toContain(token)
  })

  test('takes ASCII names in any case, and no letter that only folds into one', async () => {
    const { accounts, login } = await makeWorld()
    await accounts.create({ username: 'kim', password: PASSWORD })
    expect(await outcome(login('KIM'))).toBe('ok')
    expect(await outcome(login('\u212aim'))).toBe('invalid_credentials')
    expect(await outcome(login(' kim'))).toBe('invalid_credentials')
    expect(await outcome(login('kim\0'))).toBe('invalid_credentials')
    expect(await outcome(login('kim\ud800'))).toBe('invalid_credentials')
  })

  test('answers an unknown user, a wrong password and a disabled user alike', async () => {
    const { accounts, login } = await makeWorld()
    await accounts.create({ username: 'ada', password: PASSWORD })
    const eve = await accounts.create({ username: 'eve', password: PASSWORD })
    await accounts.disable(eve.id)
    const answers = [
      await refusal(login('nobody')),
      await refusal(login('ada', 'wrong password')),
      await refusal(login('eve')),
    ]
    for (const { code, status, message, extra } of answers) {
      expect({ code, status, message, extra }).toEqual({
        code: 'invalid_credentials',
        status: 401,
        message: answers[0]!.message,
        extra: {},
      })
    }
  })

  test('looks at the exact bytes of a password', async () => {
    const { accounts, login } = await makeWorld()
    await accounts.create({ username: 'ada', password: 'na\u00efve password ' })
    expect(await outcome(login('ada', 'na\u00efve password '))).toBe('ok')
    expect(await outcome(login('ada', 'na\u00efve password'))).toBe('invalid_credentials')
    expect(await outcome(login('ada', 'nai\u0308ve password '))).toBe('invalid_credentials')
  })

  test('refuses a password that is too long without hashing or counting it', async () => {
    const { accounts, login, database } = await makeWorld()
    await accounts.create({ username: 'ada', password: PASSWORD })
    for (let time = 0; time < 6; time += 1) expect(await outcome(login('ada', 'ä'.repeat(513)))).toBe('bad_request')
    expect(await database.read.q.selectFrom('login_throttles').selectAll().execute()).toEqual([])
    expect(await outcome(login('ada', 'ä'.repeat(512)))).toBe('invalid_credentials')
  })

  test('refuses device names that could not be stored as they are', async () => {
    const { accounts, database } = await makeWorld()
    await accounts.create({ username: 'ada', password: PASSWORD })
    const device = { username: 'ada', password: PASSWORD, ip: IP, device_id: 'laptop-0001', device_name: 'Laptop' }
    expect(await outcome(accounts.login({ ...device, device_name: 'a\0b' }))).toBe('bad_request')
    expect(await outcome(accounts.login({ ...device, device_id: 'laptop-\ud800' }))).toBe('bad_request')
    expect(await database.read.q.selectFrom('device_tokens').selectAll().execute()).toEqual([])
  })

  test('hashes a password anew when its parameters are not those of today', async () => {
    const { accounts, login, database } = await makeWorld()
    await accounts.create({ username: 'ada', password: PASSWORD })
    const stored = () => database.read.q.selectFrom('users').select('password_hash').executeTakeFirstOrThrow()
    const parameters = async () => (await stored()).password_hash.split('$', 4)
    const current = await parameters()
    const { hash } = await import('@node-rs/argon2')
    const old = await hash(PASSWORD, { memoryCost: 8_192, timeCost: 1, parallelism: 1 })
    await database.write('instance', (tx) => tx.q.updateTable('users').set({ password_hash: old }).execute())
    expect(await outcome(login('ada', 'wrong password'))).toBe('invalid_credentials')
    expect((await stored()).password_hash).toBe(old)
    expect(await outcome(login('ada'))).toBe('ok')
    expect(await parameters()).toEqual(current)
    expect(await outcome(login('ada'))).toBe('ok')
  })
})

describe('after five failed logins', () => {
  test('a name is locked for 15 minutes, right password or not', async () => {
    const world = await makeWorld()
    await world.accounts.create({ username: 'ada', password: PASSWORD })
    await failTimes(world, 'ada', 5)
    const locked = await refusal(world.login('ada'))
    expect(locked.code).toBe('account_locked')
    expect(locked.extra.retryAfter).toBe(900)
    world.clock.pass(15 * MINUTE - 1)
    expect((await refusal(world.login('ADA'))).extra.retryAfter).toBe(1)
    world.clock.pass(1)
    expect(await outcome(world.login('ada'))).toBe('ok')
  })

  test('attempts do not prolong the lock, and five more are needed for the next', async () => {
    const world = await makeWorld()
    await world.accounts.create({ username: 'ada', password: PASSWORD })
    await failTimes(world, 'ada', 5)
    for (let minute = 0; minute < 14; minute += 1) {
      world.clock.pass(MINUTE)
      expect(await outcome(world.login('ada', 'wrong password'))).toBe('account_locked')
    }
    world.clock.pass(MINUTE)
    await failTimes(world, 'ada', 5)
    expect(await outcome(world.login('ada'))).toBe('account_locked')
  })

  test('a name nobody has is locked just the same, and leaves no trace of itself', async () => {
    const world = await makeWorld()
    await failTimes(world, 'nobody', 5)
    expect(await outcome(world.login('nobody'))).toBe('account_locked')
    const rows = await world.database.read.q.selectFrom('login_throttles').selectAll().execute()
    expect(rows).toHaveLength(1)
    expect(JSON.stringify(rows)).not.toContain('nobody')
  })

  test('others can still log in, and who is signed in stays so', async () => {
    const world = await makeWorld()
    await world.accounts.create({ username: 'ada', password: PASSWORD })
    await world.accounts.create({ username: 'bob', password: PASSWORD })
    const token = await world.token('ada')
    await failTimes(world, 'ada', 5)
    expect(await outcome(world.login('bob'))).toBe('ok')
    expect(await world.accounts.authenticateDevice(token, IP)).toBeDefined()
  })

  test('only failures within 15 minutes count, wherever the window lies', async () => {
    const world = await makeWorld()
    await world.accounts.create({ username: 'ada', password: PASSWORD })
    await failTimes(world, 'ada', 1)
    world.clock.pass(14 * MINUTE)
    await failTimes(world, 'ada', 3)
    // The first is over now; four more within a minute of the three make seven tries, the fifth of which locks.
    world.clock.pass(MINUTE)
    await failTimes(world, 'ada', 1)
    expect(await outcome(world.login('ada', 'wrong password'))).toBe('invalid_credentials')
    expect(await outcome(world.login('ada'))).toBe('account_locked')
  })

  test('a login that succeeds forgets the failures before it', async () => {
    const world = await makeWorld()
    await world.accounts.create({ username: 'ada', password: PASSWORD })
    await failTimes(world, 'ada', 4)
    expect(await outcome(world.login('ada'))).toBe('ok')
    await failTimes(world, 'ada', 4)
    expect(await outcome(world.login('ada'))).toBe('ok')
  })

  test('an administrator unlocks', async () => {
    const world = await makeWorld()
    const ada = await world.accounts.create({ username: 'ada', password: PASSWORD })
    await failTimes(world, 'ada', 5)
    expect((await world.accounts.list())[0]!.locked_until).toBe(world.clock.now() + 15 * MINUTE)
    await world.accounts.unlock(ada.id)
    expect((await world.accounts.list())[0]!.locked_until).toBeNull()
    expect(await outcome(world.login('ada'))).toBe('ok')
  })

  test('another process knows it, and the lock holds with limits off', async () => {
    const world = await makeWorld()
    world.policy.limitsOn = false
    await world.accounts.create({ username: 'ada', password: PASSWORD })
    await failTimes(world, 'ada', 5)
    const other = world.elsewhere()
    const attempt = { username: 'ada', password: PASSWORD, device_id: 'laptop-0001', device_name: 'Laptop', ip: IP }
    expect(await outcome(other.login(attempt))).toBe('account_locked')
  })

  test('parallel guesses do not get further than guesses in a row', async () => {
    const world = await makeWorld()
    await world.accounts.create({ username: 'ada', password: PASSWORD })
    const guesses = Array.from({ length: 33 }, () => outcome(world.login('ada', 'wrong password')))
    expect(tally(await Promise.all(guesses))).toEqual({ invalid_credentials: 5, account_locked: 28 })
    expect(await outcome(world.login('ada'))).toBe('account_locked')
  })

  test('parallel right logins of one user all succeed, as far as there is room to wait', async () => {
    const world = await makeWorld()
    await world.accounts.create({ username: 'ada', password: PASSWORD })
    const logins = Array.from({ length: 36 }, (_, index) =>
      outcome(world.login('ada', PASSWORD, { device_id: `device-${index}` })),
    )
    expect(tally(await Promise.all(logins))).toEqual({ ok: 33, rate_limited: 3 })
  })

  test('names are forgotten when they say nothing any more', async () => {
    const world = await makeWorld()
    for (const name of ['one', 'two', 'three']) await failTimes(world, name, 1)
    world.clock.pass(16 * MINUTE)
    await failTimes(world, 'four', 1)
    expect(await world.database.read.q.selectFrom('login_throttles').selectAll().execute()).toHaveLength(1)
  })
})

describe('an address', () => {
  test('is refused after 50 failures in ten minutes, over all names', async () => {
    const world = await makeWorld()
    await world.accounts.create({ username: 'ada', password: PASSWORD })
    for (let index = 0; index < 50; index += 1) {
      expect(await outcome(world.login(`name-${index}`, 'wrong password'))).toBe('invalid_credentials')
      world.clock.pass(SECOND)
    }
    const refused = await refusal(world.login('ada'))
    expect(refused.code).toBe('rate_limited')
    expect(refused.extra.retryAfter).toBe(550)
    expect(await outcome(world.accounts.completeLogin({ pending_token: 'p_', code: '123456', ip: IP }))).toBe(
      'rate_limited',
    )
    expect(await outcome(world.login('ada', PASSWORD, { ip: `::ffff:${IP}` }))).toBe('rate_limited')
    expect(await outcome(world.login('ada', PASSWORD, { ip: '192.0.2.8' }))).toBe('ok')
    world.policy.limitsOn = false
    expect(await outcome(world.login('ada'))).toBe('ok')
    world.policy.limitsOn = true
    world.clock.pass(550 * SECOND)
    expect(await outcome(world.login('ada'))).toBe('ok')
    expect(await outcome(world.login('ada', 'wrong password'))).toBe('invalid_credentials')
    expect(await outcome(world.login('ada'))).toBe('rate_limited')
  })

  test('is never refused for logins that succeed', async () => {
    const world = await makeWorld()
    await world.accounts.create({ username: 'ada', password: PASSWORD })
    for (let index = 0; index < 51; index += 1) expect(await outcome(world.login('ada'))).toBe('ok')
  })

  test('does not get further with parallel guesses for many names', async () => {
    const world = await makeWorld()
    for (let index = 0; index < 45; index += 1) await outcome(world.login(`name-${index}`, 'wrong password'))
    const guesses = Array.from({ length: 20 }, (_, index) => outcome(world.login(`more-${index}`, 'wrong password')))
    const counts = tally(await Promise.all(guesses))
    // Two are hashed at a time, and both places may have been taken again when the last that counts is counted.
    expect(counts['invalid_credentials']).toBeGreaterThanOrEqual(5)
    expect(counts['invalid_credentials']).toBeLessThanOrEqual(7)
    expect(counts['rate_limited']).toBe(20 - counts['invalid_credentials']!)
  })
})

test('logins of 514 names at once wait for their turn, and more are told to come back', async () => {
  const world = await makeWorld()
  world.policy.limitsOn = false
  const logins = Array.from({ length: 520 }, (_, index) => refusal(world.login(`name-${index}`, 'wrong password')))
  const refusals = await Promise.all(logins)
  expect(tally(refusals.map(({ code }) => code))).toEqual({ invalid_credentials: 514, busy: 6 })
  const busy = refusals.filter(({ code }) => code === 'busy')
  expect(busy.map(({ extra }) => extra.retryAfter)).toEqual([1, 1, 1, 1, 1, 1])
})

describe('under maintenance', () => {
  test('the password is looked at first, then only administrators come in', async () => {
    const world = await makeWorld()
    await world.accounts.create({ username: 'root', password: PASSWORD, role: 'admin' })
    await world.accounts.create({ username: 'ada', password: PASSWORD })
    world.maintenance.fault = fault('maintenance', { text: 'New disks', retryAfter: 60 })
    expect(await outcome(world.login('ada', 'wrong password'))).toBe('invalid_credentials')
    expect((await refusal(world.login('ada'))).message).toBe('New disks')
    expect(await outcome(world.login('nobody'))).toBe('invalid_credentials')
    expect(await outcome(world.login('root'))).toBe('ok')
    expect(await world.accounts.devices((await world.accounts.byName('ada')).id)).toEqual([])
  })

  test('a login that is kept out is not complete: earlier failures still count', async () => {
    const world = await makeWorld()
    await world.accounts.create({ username: 'ada', password: PASSWORD })
    await failTimes(world, 'ada', 4)
    world.maintenance.fault = fault('maintenance')
    expect(await outcome(world.login('ada'))).toBe('maintenance')
    await failTimes(world, 'ada', 1)
    expect(await outcome(world.login('ada'))).toBe('account_locked')
  })
})
