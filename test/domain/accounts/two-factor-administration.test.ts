import { generateSync } from 'otplib'
import { describe, expect, test } from 'vitest'
import { DAY, HOUR, MINUTE, SECOND } from '../../../src/base/clock.ts'
import { auditEntries } from '../../../src/storage/instance/audit.ts'
import { IP, makeWorld, outcome, PASSWORD, refusal, tally } from './world.ts'

/** Ada with the second factor on and a session, and Bob without one. */
async function withFactor() {
  const world = await makeWorld()
  const { accounts, clock, database } = world
  const ada = await accounts.create({ username: 'ada', password: PASSWORD })
  const bob = await accounts.create({ username: 'bob', password: PASSWORD })
  const { secret } = await accounts.twoFactor.setUp(ada.id, 'svc')
  const code = () => generateSync({ secret, epoch: Math.floor(clock.now() / 1_000) })
  const { backup_codes } = await accounts.twoFactor.enable(ada.id, code())
  clock.pass(2 * MINUTE)
  const pending = async (username = 'ada') => {
    const begun = await world.login(username)
    if (!('pending_token' in begun)) throw new Error('No second factor was asked for.')
    return begun.pending_token
  }
  const enter = async (text: string) => {
    const pending_token = await pending()
    return outcome(accounts.completeLogin({ pending_token, code: text, ip: IP }))
  }
  const audited = async (kind: string) =>
    (await auditEntries(database.read, { kinds: [kind], limit: 10 })).map(({ actor, target, detail }) => ({
      actor,
      target,
      detail: detail === null ? null : (JSON.parse(detail) as unknown),
    }))
  const begin = (user: number) =>
    database.write('instance', (tx) => accounts.sessions.begin(tx, user, { ip: IP, userAgent: 'Browser' }))
  return { ...world, ada, bob, code, backup_codes, pending, enter, audited, begin }
}

describe('a bypass code', () => {
  test('completes one login, and leaves the second factor as it is', async () => {
    const { accounts, ada, code, enter, clock } = await withFactor()
    const made = await accounts.twoFactor.bypass(ada.id, 10 * MINUTE)
    expect(made).toEqual({
      code: expect.stringMatching(/^[0-9A-HJKMNP-TV-Z]{10}$/) as string,
      expires_at: clock.now() + 10 * MINUTE,
    })
    expect(await accounts.twoFactor.status(ada.id)).toMatchObject({ enabled: true, bypass_until: made.expires_at })
    expect(await enter(made.code)).toBe('ok')
    expect(await enter(made.code)).toBe('invalid_code')
    expect(await accounts.twoFactor.status(ada.id)).toMatchObject({
      enabled: true,
      backup_codes_left: 8,
      bypass_until: null,
    })
    expect(await enter(code())).toBe('ok')
  })

  test('may be typed in any case and in groups', async () => {
    const { accounts, ada, enter } = await withFactor()
    const { code } = await accounts.twoFactor.bypass(ada.id, MINUTE)
    expect(await enter(` ${code.slice(0, 5).toLowerCase()}-${code.slice(5).toLowerCase()} `)).toBe('ok')
  })

  test('is over when its time is, to the millisecond', async () => {
    const { accounts, ada, enter, clock } = await withFactor()
    const first = await accounts.twoFactor.bypass(ada.id, MINUTE)
    clock.pass(MINUTE)
    expect(await enter(first.code)).toBe('invalid_code')
    const second = await accounts.twoFactor.bypass(ada.id, MINUTE)
    clock.pass(MINUTE - 1)
    expect(await enter(second.code)).toBe('ok')
  })

  test('takes the place of the one before', async () => {
    const { accounts, ada, enter } = await withFactor()
    const first = await accounts.twoFactor.bypass(ada.id, HOUR)
    const second = await accounts.twoFactor.bypass(ada.id, MINUTE)
    expect(await enter(first.code)).toBe('invalid_code')
    expect(await enter(second.code)).toBe('ok')
    expect(await enter(first.code)).toBe('invalid_code')
  })

  test('lets one of many in who use it at the same moment, in two processes too', async () => {
    const { accounts, ada, pending, elsewhere } = await withFactor()
    const other = elsewhere()
    const { code } = await accounts.twoFactor.bypass(ada.id, MINUTE)
    const tokens = [await pending(), await pending(), await pending(), await pending()]
    const attempts = tokens.map((pending_token, index) =>
      outcome((index % 2 === 0 ? accounts : other).completeLogin({ pending_token, code, ip: IP })),
    )
    expect(tally(await Promise.all(attempts))).toEqual({ ok: 1, invalid_code: 3 })
    expect(await accounts.devices(ada.id)).toHaveLength(1)
  })

  test('is stored as a hash, and is good for its own account only', async () => {
    const { accounts, ada, bob, database, clock, login } = await withFactor()
    const { secret } = await accounts.twoFactor.setUp(bob.id, 'svc')
    await accounts.twoFactor.enable(bob.id, generateSync({ secret, epoch: Math.floor(clock.now() / 1_000) }))
    const { code } = await accounts.twoFactor.bypass(ada.id, MINUTE)
    const stored = await database.read.q.selectFrom('bypass_codes').selectAll().execute()
    expect(stored).toEqual([
      { user_id: ada.id, hash: expect.stringMatching(/^[0-9a-f]{64}$/) as string, expires_at: clock.now() + MINUTE },
    ])
    const { pending_token } = (await login('bob')) as { pending_token: string }
    expect(await outcome(accounts.completeLogin({ pending_token, code, ip: IP }))).toBe('invalid_code')
  })

  test('does not switch the second factor off, nor make backup codes', async () => {
    const { accounts, ada } = await withFactor()
    const { code } = await accounts.twoFactor.bypass(ada.id, MINUTE)
    expect(await outcome(accounts.twoFactor.disable(ada.id, code))).toBe('invalid_code')
    expect(await outcome(accounts.twoFactor.regenerateBackupCodes(ada.id, code))).toBe('invalid_code')
    expect(await accounts.twoFactor.status(ada.id)).toMatchObject({ enabled: true, backup_codes_left: 8 })
  })

  test('outlives new backup codes, and goes with the factor or when the account is disabled', async () => {
    const { accounts, ada, enter, database } = await withFactor()
    const none = () => database.read.q.selectFrom('bypass_codes').selectAll().execute()
    const first = await accounts.twoFactor.bypass(ada.id, MINUTE)
    await accounts.twoFactor.renewBackupCodes(ada.id)
    expect(await enter(first.code)).toBe('ok')
    const second = await accounts.twoFactor.bypass(ada.id, MINUTE)
    await accounts.disable(ada.id)
    expect(await none()).toEqual([])
    await accounts.enable(ada.id)
    expect(await enter(second.code)).toBe('invalid_code')
    await accounts.twoFactor.bypass(ada.id, MINUTE)
    await accounts.twoFactor.reset(ada.id)
    expect(await none()).toEqual([])
  })

  test('does not open a step that wrong codes locked', async () => {
    const { accounts, ada, enter } = await withFactor()
    for (let time = 0; time < 5; time += 1) expect(await enter('ABCDE-FGHJK')).toBe('invalid_code')
    const { code } = await accounts.twoFactor.bypass(ada.id, HOUR)
    expect(await enter(code)).toBe('account_locked')
    expect(await accounts.unlock(ada.id)).toBe(true)
    expect(await enter(code)).toBe('ok')
  })

  test('is refused without a second factor in force, and for an account that is disabled', async () => {
    const { accounts, ada, bob, database } = await withFactor()
    const refused = await refusal(accounts.twoFactor.bypass(bob.id, MINUTE))
    expect([refused.code, refused.message]).toEqual(['conflict', '"bob" has no second factor.'])
    await accounts.twoFactor.setUp(bob.id, 'svc')
    expect(await outcome(accounts.twoFactor.bypass(bob.id, MINUTE))).toBe('conflict')
    await accounts.disable(ada.id)
    expect((await refusal(accounts.twoFactor.bypass(ada.id, MINUTE))).message).toContain('disabled')
    expect(await outcome(accounts.twoFactor.bypass(999, MINUTE))).toBe('not_found')
    expect(await database.read.q.selectFrom('bypass_codes').selectAll().execute()).toEqual([])
  })

  test.each([0, -1, SECOND - 1, DAY + 1, Infinity, NaN])('cannot last %s ms', async (ttl) => {
    const { accounts, ada } = await withFactor()
    expect(await outcome(accounts.twoFactor.bypass(ada.id, ttl))).toBe('bad_request')
    expect((await accounts.twoFactor.status(ada.id)).bypass_until).toBeNull()
  })

  test('stands in the audit log when it is made and when it is used, without the code', async () => {
    const { accounts, ada, enter, audited, clock } = await withFactor()
    const { code } = await accounts.twoFactor.bypass(ada.id, MINUTE)
    const until = new Date(clock.now() + MINUTE).toISOString()
    expect(await audited('2fa.bypass_made')).toEqual([
      { actor: 'system', target: 'ada', detail: { expires_at: until } },
    ])
    expect(await audited('2fa.bypass_used')).toEqual([])
    await enter(code)
    expect(await audited('2fa.bypass_used')).toEqual([{ actor: 'ada', target: 'ada', detail: null }])
    expect(await audited('2fa.backup_code_used')).toEqual([])
  })
})

describe('a reset', () => {
  test('takes everything away at once: codes, a set-up, logins that wait, and sessions, but no devices', async () => {
    const { accounts, ada, bob, database, backup_codes, pending, enter, login, begin, audited } = await withFactor()
    await enter(backup_codes[0]!)
    await accounts.twoFactor.bypass(ada.id, HOUR)
    const [waiting, cookie, others] = [await pending(), await begin(ada.id), await begin(bob.id)]
    expect(await accounts.twoFactor.reset(ada.id)).toEqual({ was: 'on', sessions: 1 })
    for (const table of ['second_factors', 'backup_codes', 'bypass_codes', 'pending_logins'] as const) {
      expect(await database.read.q.selectFrom(table).selectAll().execute(), table).toEqual([])
    }
    expect(await accounts.sessions.authenticate(cookie, IP)).toBeUndefined()
    expect(await accounts.sessions.authenticate(others, IP)).toBeDefined()
    expect(await accounts.devices(ada.id)).toHaveLength(1)
    expect(await outcome(accounts.completeLogin({ pending_token: waiting, code: backup_codes[1]!, ip: IP }))).toBe(
      'invalid_code',
    )
    expect(await login('ada')).toHaveProperty('token')
    expect(await audited('2fa.reset')).toEqual([
      { actor: 'system', target: 'ada', detail: { was: 'on', sessions_ended: 1 } },
    ])
  })

  test('of a set-up that was begun forgets its secret', async () => {
    const { accounts, bob, clock } = await withFactor()
    const { secret } = await accounts.twoFactor.setUp(bob.id, 'svc')
    expect(await accounts.twoFactor.reset(bob.id)).toEqual({ was: 'set_up', sessions: 0 })
    const code = generateSync({ secret, epoch: Math.floor(clock.now() / 1_000) })
    expect(await outcome(accounts.twoFactor.enable(bob.id, code))).toBe('conflict')
  })

  test('where there is nothing changes nothing, sessions included', async () => {
    const { accounts, bob, begin, audited } = await withFactor()
    const cookie = await begin(bob.id)
    expect(await accounts.twoFactor.reset(bob.id)).toEqual({ was: 'off', sessions: 0 })
    expect(await accounts.sessions.authenticate(cookie, IP)).toBeDefined()
    expect(await audited('2fa.reset')).toEqual([])
    expect(await outcome(accounts.twoFactor.reset(999))).toBe('not_found')
  })
})

test('new backup codes need no code, end the old ones, and are written down as made by the administrator', async () => {
  const { accounts, ada, bob, backup_codes, enter, audited } = await withFactor()
  const fresh = await accounts.twoFactor.renewBackupCodes(ada.id)
  expect(new Set([...fresh, ...backup_codes]).size).toBe(16)
  expect(await enter(backup_codes[0]!)).toBe('invalid_code')
  expect(await enter(fresh[0]!)).toBe('ok')
  expect(await accounts.twoFactor.status(ada.id)).toMatchObject({ backup_codes_left: 7 })
  expect(await audited('2fa.codes_regenerated')).toEqual([{ actor: 'system', target: 'ada', detail: null }])
  expect((await refusal(accounts.twoFactor.renewBackupCodes(bob.id))).message).toBe('"bob" has no second factor.')
})

test('the overview says of everybody what there is', async () => {
  const { accounts, ada, bob, clock, enter } = await withFactor()
  await accounts.create({ username: 'cyd', password: PASSWORD, role: 'admin' })
  for (let time = 0; time < 5; time += 1) await enter('000000')
  const { expires_at } = await accounts.twoFactor.bypass(ada.id, HOUR)
  await accounts.twoFactor.setUp(bob.id, 'svc')
  await accounts.disable(bob.id)
  const usual = {
    role: 'user',
    disabled: false,
    enabled: false,
    enabled_at: null,
    backup_codes_left: 0,
    locked_until: null,
  }
  const nothing = { ...usual, closed: false, set_up_until: null, bypass_until: null }
  const [first, second, third] = await accounts.twoFactor.overview()
  expect(first).toMatchObject({
    ...nothing,
    username: 'ada',
    enabled: true,
    enabled_at: clock.now() - 2 * MINUTE,
    backup_codes_left: 8,
    locked_until: clock.now() + 15 * MINUTE,
    bypass_until: expires_at,
  })
  expect(second).toMatchObject({ ...nothing, username: 'bob', disabled: true, set_up_until: clock.now() + 10 * MINUTE })
  expect(third).toMatchObject({ ...nothing, username: 'cyd', role: 'admin' })
  expect(await accounts.twoFactor.status(ada.id)).toEqual(first)
  clock.pass(DAY)
  expect((await accounts.twoFactor.overview())[0]).toMatchObject({ locked_until: null, bypass_until: null })
  expect((await accounts.twoFactor.overview())[1]).toMatchObject({ set_up_until: null })
})

test('a factor that never had backup codes takes new ones and a bypass code all the same', async () => {
  const { accounts, ada, database, enter } = await withFactor()
  const forget = () =>
    database.write('instance', async (tx) => {
      await tx.q.deleteFrom('backup_codes').execute()
      await tx.q.updateTable('second_factors').set({ code_salt: null }).execute()
    })
  await forget()
  const { code } = await accounts.twoFactor.bypass(ada.id, MINUTE)
  expect(await enter(code)).toBe('ok')
  await forget()
  const [fresh] = await accounts.twoFactor.renewBackupCodes(ada.id)
  expect(await enter(fresh!)).toBe('ok')
})
