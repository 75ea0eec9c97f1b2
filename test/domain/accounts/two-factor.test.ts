import { generateSync } from 'otplib'
import { describe, expect, test } from 'vitest'
import { DAY, HOUR, MINUTE, SECOND } from '../../../src/base/clock.ts'
import { fault } from '../../../src/contract/errors.ts'
import type { Accounts } from '../../../src/domain/accounts/accounts.ts'
import { isClosed, lockAfter } from '../../../src/domain/accounts/code-verifier.ts'
import { IP, makeWorld, outcome, PASSWORD, refusal, tally } from './world.ts'

const STEP = 30 * SECOND

/** Ada with the second factor on, two minutes ago, and what she needs to log in. */
async function withFactor() {
  const world = await makeWorld()
  const { accounts, clock } = world
  const ada = await accounts.create({ username: 'ada', password: PASSWORD })
  const { secret } = await accounts.twoFactor.setUp(ada.id, 'svc')
  const code = (steps = 0) => generateSync({ secret, epoch: Math.floor((clock.now() + steps * STEP) / 1_000) })
  const { backup_codes } = await accounts.twoFactor.enable(ada.id, code())
  clock.pass(2 * MINUTE)
  const wrong = () =>
    ['000000', '111111', '222222', '333333'].find((text) => ![code(-1), code(), code(1)].includes(text))!
  const pending = async () => {
    const begun = await world.login('ada')
    if (!('pending_token' in begun)) throw new Error('No second factor was asked for.')
    return begun.pending_token
  }
  const complete = (pending_token: string, text: string) =>
    accounts.completeLogin({ pending_token, code: text, ip: IP })
  return { ...world, world, ada, secret, code, wrong, backup_codes, pending, complete }
}

describe('a login with a second factor', () => {
  test('gives a pending token, which is no device token, and completes with a code', async () => {
    const { accounts, clock, ada, login, pending, complete, code } = await withFactor()
    const begun = await login('ada')
    expect(begun).toEqual({ pending_token: expect.stringMatching(/^p_[0-9a-f]{64}$/) as string })
    const pendingToken = await pending()
    expect(await accounts.authenticateDevice(pendingToken, IP)).toBeUndefined()
    expect(await accounts.authenticateDevice(pendingToken.slice(2), IP)).toBeUndefined()
    expect(await accounts.devices(ada.id)).toEqual([])
    expect((await accounts.byName('ada')).last_login_at).toBeNull()
    const { token, user } = await complete(pendingToken, code())
    expect(user).toEqual({ id: ada.id, username: 'ada', display_name: 'ada' })
    const caller = await accounts.authenticateDevice(token, IP)
    expect(caller?.device).toMatchObject({ device_id: 'laptop-0001', device_name: 'Laptop' })
    expect((await accounts.byName('ada')).last_login_at).toBe(clock.now())
  })

  test('needs the password first', async () => {
    const { login } = await withFactor()
    expect(await outcome(login('ada', 'wrong password'))).toBe('invalid_credentials')
  })

  test('takes the code of the step before and after, typed in groups, and no other', async () => {
    const { clock, pending, complete, code } = await withFactor()
    expect(await outcome(complete(await pending(), code(-2)))).toBe('invalid_code')
    expect(await outcome(complete(await pending(), code(2)))).toBe('invalid_code')
    const early = code(-1)
    expect(await outcome(complete(await pending(), `${early.slice(0, 3)} ${early.slice(3)}`))).toBe('ok')
    clock.pass(10 * STEP)
    expect(await outcome(complete(await pending(), code(1)))).toBe('ok')
  })

  test('takes each step once, and none before one that was taken', async () => {
    const { clock, pending, complete, code } = await withFactor()
    expect(await outcome(complete(await pending(), code()))).toBe('ok')
    expect(await outcome(complete(await pending(), code()))).toBe('invalid_code')
    expect(await outcome(complete(await pending(), code(-1)))).toBe('invalid_code')
    clock.pass(STEP)
    expect(await outcome(complete(await pending(), code()))).toBe('ok')
  })

  test('is completed once with one pending token', async () => {
    const { pending, complete, code, backup_codes } = await withFactor()
    const token = await pending()
    expect(await outcome(complete(token, code()))).toBe('ok')
    expect(await outcome(complete(token, backup_codes[0]!))).toBe('invalid_code')
  })

  test('gives the same answer for a wrong code and for a pending token that is wrong, expired or used up', async () => {
    const { clock, pending, complete, code, wrong } = await withFactor()
    const token = await pending()
    const expired = await pending()
    const answers = [
      await refusal(complete(token, wrong())),
      await refusal(complete(`p_${'0'.repeat(64)}`, code())),
      await refusal(complete('nonsense', code())),
      await refusal(complete('0'.repeat(64), code())),
    ]
    clock.pass(5 * MINUTE)
    answers.push(await refusal(complete(expired, code())))
    for (const { code: word, message, extra } of answers) {
      expect({ word, message, extra }).toEqual({ word: 'invalid_code', message: answers[0]!.message, extra: {} })
    }
  })

  test('waits for five minutes', async () => {
    const { clock, pending, complete, code } = await withFactor()
    const token = await pending()
    clock.pass(5 * MINUTE - 1)
    expect(await outcome(complete(token, code()))).toBe('ok')
  })

  test('waits for at most five tries, whatever an administrator unlocks between', async () => {
    const { accounts, ada, pending, complete, code, wrong } = await withFactor()
    const token = await pending()
    for (let time = 0; time < 5; time += 1) expect(await outcome(complete(token, wrong()))).toBe('invalid_code')
    await accounts.unlock(ada.id)
    expect(await outcome(complete(token, code()))).toBe('invalid_code')
    expect(await outcome(complete(await pending(), code()))).toBe('ok')
  })

  test('forgets the oldest of many waiting logins', async () => {
    const { pending, complete, code } = await withFactor()
    const first = await pending()
    const second = await pending()
    for (let time = 0; time < 19; time += 1) await pending()
    expect(await outcome(complete(first, code()))).toBe('invalid_code')
    expect(await outcome(complete(second, code()))).toBe('ok')
  })

  test('lets the wrong passwords before it count until it is complete', async () => {
    const { login, pending, complete, code } = await withFactor()
    for (let time = 0; time < 4; time += 1) await outcome(login('ada', 'wrong password'))
    const token = await pending()
    expect(await outcome(login('ada', 'wrong password'))).toBe('invalid_credentials')
    expect(await outcome(login('ada'))).toBe('account_locked')
    expect(await outcome(complete(token, code()))).toBe('ok')
    expect(await outcome(login('ada'))).toBe('ok')
  })
})

describe('what changes between password and code', () => {
  test.each([
    ['another password', (accounts: Accounts, id: number) => accounts.setPassword(id, PASSWORD)],
    ['another role', (accounts: Accounts, id: number) => accounts.update(id, { role: 'admin' })],
    ['no access any more', (accounts: Accounts, id: number) => accounts.disable(id)],
  ])('a user who got %s begins again', async (_, change) => {
    const { accounts, ada, pending, complete, code } = await withFactor()
    const token = await pending()
    await change(accounts, ada.id)
    expect(await outcome(complete(token, code()))).toBe('invalid_code')
    await accounts.enable(ada.id)
    expect(await outcome(complete(token, code()))).toBe('invalid_code')
    expect(await outcome(complete(await pending(), code()))).toBe('ok')
  })

  test('a user who keeps role and password goes on', async () => {
    const { accounts, ada, pending, complete, code } = await withFactor()
    const token = await pending()
    await accounts.update(ada.id, { display_name: 'Ada Lovelace', role: 'user', quota_bytes: 0 })
    expect(await outcome(complete(token, code()))).toBe('ok')
  })

  test('maintenance keeps users out before it looks at the code, and lets administrators in', async () => {
    const { accounts, ada, maintenance, pending, complete, code, wrong } = await withFactor()
    const token = await pending()
    maintenance.fault = fault('maintenance')
    expect(await outcome(complete(token, wrong()))).toBe('maintenance')
    expect(await outcome(complete(token, code()))).toBe('maintenance')
    maintenance.fault = undefined
    await accounts.update(ada.id, { role: 'admin' })
    const asAdmin = await pending()
    maintenance.fault = fault('maintenance')
    expect(await outcome(complete(asAdmin, code()))).toBe('ok')
  })

  test('switching the second factor off ends what waited for it', async () => {
    const { accounts, ada, clock, pending, complete, code } = await withFactor()
    const token = await pending()
    await accounts.twoFactor.disable(ada.id, code())
    const { secret } = await accounts.twoFactor.setUp(ada.id, 'svc')
    const another = () => generateSync({ secret, epoch: Math.floor(clock.now() / 1_000) })
    await accounts.twoFactor.enable(ada.id, another())
    expect(await outcome(complete(token, another()))).toBe('invalid_code')
  })
})

describe('wrong codes', () => {
  test('lock the code step after five, with the right password or without, and for longer each time', async () => {
    const { clock, world, ada, pending, complete, code, wrong } = await withFactor()
    world.policy.limitsOn = false
    for (const minutes of [15, 30, 60]) {
      const token = await pending()
      for (let time = 0; time < 5; time += 1) expect(await outcome(complete(token, wrong()))).toBe('invalid_code')
      const { locked_until, closed } = await world.accounts.twoFactor.status(ada.id)
      expect({ locked_until, closed }).toEqual({ locked_until: clock.now() + minutes * MINUTE, closed: false })
      const locked = await refusal(complete(token, code()))
      expect(locked.code).toBe('account_locked')
      expect(locked.extra.retryAfter).toBe(minutes * 60)
      clock.pass(minutes * MINUTE - 1)
      expect(await outcome(complete(await pending(), code()))).toBe('account_locked')
      clock.pass(1)
    }
    expect(await outcome(complete(await pending(), code()))).toBe('ok')
    clock.pass(STEP)
    const token = await pending()
    for (let time = 0; time < 5; time += 1) expect(await outcome(complete(token, wrong()))).toBe('invalid_code')
    expect((await refusal(complete(token, code()))).extra.retryAfter).toBe(900)
  })

  test('count over several logins and several kinds of code', async () => {
    const { pending, complete, code, wrong } = await withFactor()
    for (const text of [wrong(), 'ABCDE-FGHJK', '12345', '1234567', 'x'.repeat(64)]) {
      expect(await outcome(complete(await pending(), text))).toBe('invalid_code')
    }
    expect(await outcome(complete(await pending(), code()))).toBe('account_locked')
  })

  test('double the lock up to a day, and after a hundred only an administrator opens the step', async () => {
    expect([5, 10, 15, 20, 25, 30, 35, 40, 95].map((failures) => lockAfter(failures) / HOUR)).toEqual([
      0.25, 0.5, 1, 2, 4, 8, 16, 24, 24,
    ])
    expect([0, 1, 4, 6, 99].map(lockAfter)).toEqual([0, 0, 0, 0, 0])
    expect([99, 100].map(isClosed)).toEqual([false, true])
    const { accounts, ada, clock, database, pending, complete, code, wrong } = await withFactor()
    await database.write('instance', (tx) => tx.q.updateTable('second_factors').set({ failures: 99 }).execute())
    expect(await outcome(complete(await pending(), wrong()))).toBe('invalid_code')
    clock.pass(30 * DAY)
    expect((await refusal(complete(await pending(), code()))).message).toMatch(/administrator/)
    expect(await accounts.twoFactor.status(ada.id)).toMatchObject({ locked_until: null, closed: true })
    await accounts.unlock(ada.id)
    expect(await outcome(complete(await pending(), code()))).toBe('ok')
  })

  test('in parallel get no further than in a row', async () => {
    const { pending, complete, code, wrong } = await withFactor()
    const tokens = [await pending(), await pending(), await pending(), await pending()]
    const guesses = Array.from({ length: 40 }, (_, index) => outcome(complete(tokens[index % 4]!, wrong())))
    expect(tally(await Promise.all(guesses))).toEqual({ invalid_code: 5, account_locked: 35 })
    expect(await outcome(complete(await pending(), code()))).toBe('account_locked')
  })
})

describe('of parallel logins', () => {
  test('one succeeds with one step', async () => {
    const { accounts, ada, pending, complete, code } = await withFactor()
    const tokens = await Promise.all([pending(), pending(), pending(), pending()])
    const attempts = tokens.map((token) => outcome(complete(token, code())))
    expect(tally(await Promise.all(attempts))).toEqual({ ok: 1, invalid_code: 3 })
    expect(await accounts.devices(ada.id)).toHaveLength(1)
  })

  test('one succeeds with one backup code', async () => {
    const { accounts, ada, pending, complete, backup_codes } = await withFactor()
    const tokens = await Promise.all([pending(), pending(), pending(), pending()])
    const attempts = tokens.map((token) => outcome(complete(token, backup_codes[3]!)))
    expect(tally(await Promise.all(attempts))).toEqual({ ok: 1, invalid_code: 3 })
    expect((await accounts.twoFactor.status(ada.id)).backup_codes_left).toBe(7)
  })

  test('one succeeds with one step in two processes', async () => {
    const { world, pending, complete, code } = await withFactor()
    const other = world.elsewhere()
    const [one, two] = [await pending(), await pending()]
    const attempts = [
      outcome(complete(one, code())),
      outcome(other.completeLogin({ pending_token: two, code: code(), ip: IP })),
    ]
    expect(tally(await Promise.all(attempts))).toEqual({ ok: 1, invalid_code: 1 })
  })

  test('one succeeds with one pending token', async () => {
    const { pending, complete, code, backup_codes } = await withFactor()
    const token = await pending()
    const attempts = [code(), ...backup_codes.slice(0, 3)].map((text) => outcome(complete(token, text)))
    expect(tally(await Promise.all(attempts))).toEqual({ ok: 1, invalid_code: 3 })
  })
})

describe('backup codes', () => {
  test('are eight of ten characters, hashed at rest, each good for one login', async () => {
    const { accounts, ada, database, pending, complete, backup_codes } = await withFactor()
    expect(backup_codes).toHaveLength(8)
    expect(new Set(backup_codes).size).toBe(8)
    for (const code of backup_codes) expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{10}$/)
    const stored = JSON.stringify(await database.read.q.selectFrom('backup_codes').selectAll().execute())
    for (const code of backup_codes) expect(stored.toUpperCase()).not.toContain(code)
    expect(await outcome(complete(await pending(), backup_codes[0]!))).toBe('ok')
    expect(await outcome(complete(await pending(), backup_codes[0]!))).toBe('invalid_code')
    expect(await outcome(complete(await pending(), backup_codes[7]!))).toBe('ok')
    expect(await accounts.twoFactor.status(ada.id)).toMatchObject({ enabled: true, backup_codes_left: 6 })
  })

  test('may be typed in any case, with dashes and spaces, and with letters that look like digits', async () => {
    const { pending, complete, backup_codes } = await withFactor()
    const sloppy = backup_codes.map((code) => code.toLowerCase().replaceAll('1', 'l').replaceAll('0', 'o'))
    const typed = [`${sloppy[0]!.slice(0, 5)}-${sloppy[0]!.slice(5)}`, ` ${sloppy[1]!.split('').join(' ')} `]
    for (const text of typed) expect(await outcome(complete(await pending(), text))).toBe('ok')
  })

  test('of one user are worth nothing for another', async () => {
    const { accounts, backup_codes, login, complete, clock } = await withFactor()
    const bob = await accounts.create({ username: 'bob', password: PASSWORD })
    const { secret } = await accounts.twoFactor.setUp(bob.id, 'svc')
    await accounts.twoFactor.enable(bob.id, generateSync({ secret, epoch: Math.floor(clock.now() / 1_000) }))
    const begun = (await login('bob')) as { pending_token: string }
    expect(await outcome(complete(begun.pending_token, backup_codes[0]!))).toBe('invalid_code')
  })

  test('are replaced by new ones for a TOTP code, not for a backup code', async () => {
    const { accounts, ada, code, pending, complete, backup_codes } = await withFactor()
    const { twoFactor } = accounts
    expect(await outcome(twoFactor.regenerateBackupCodes(ada.id, backup_codes[0]!))).toBe('invalid_code')
    const { backup_codes: fresh } = await twoFactor.regenerateBackupCodes(ada.id, code())
    expect(fresh).toHaveLength(8)
    expect(await twoFactor.status(ada.id)).toMatchObject({ enabled: true, backup_codes_left: 8 })
    expect(await outcome(complete(await pending(), backup_codes[0]!))).toBe('invalid_code')
    expect(await outcome(complete(await pending(), fresh[0]!))).toBe('ok')
    expect(await outcome(twoFactor.regenerateBackupCodes(ada.id, code()))).toBe('invalid_code')
  })
})

describe('setting the second factor up', () => {
  test('shows a secret of 20 bytes and an address for authenticator apps, and stores neither in the clear', async () => {
    const { accounts, database } = await makeWorld()
    const ada = await accounts.create({ username: 'ada', password: PASSWORD })
    const { secret, otpauth_url } = await accounts.twoFactor.setUp(ada.id, 'svc example')
    expect(secret).toMatch(/^[A-Z2-7]{32}$/)
    const address = new URL(otpauth_url)
    expect(`${address.protocol}//${address.host}${address.pathname}`).toBe('otpauth://totp/svc%20example:ada')
    expect(Object.fromEntries(address.searchParams)).toMatchObject({ secret, issuer: 'svc example' })
    const stored = await database.read.q.selectFrom('second_factors').selectAll().execute()
    expect(JSON.stringify(stored)).not.toContain(secret)
  })

  test('changes nothing until a code proves it, within ten minutes and with the newest secret', async () => {
    const { accounts, clock, login } = await makeWorld()
    const ada = await accounts.create({ username: 'ada', password: PASSWORD })
    const { twoFactor } = accounts
    const codeOf = (secret: string) => generateSync({ secret, epoch: Math.floor(clock.now() / 1_000) })
    expect(await outcome(twoFactor.enable(ada.id, '123456'))).toBe('conflict')
    const first = await twoFactor.setUp(ada.id, 'svc')
    expect(await twoFactor.status(ada.id)).toMatchObject({ enabled: false, backup_codes_left: 0 })
    expect(await login('ada')).toHaveProperty('token')
    const second = await twoFactor.setUp(ada.id, 'svc')
    expect(await outcome(twoFactor.enable(ada.id, codeOf(first.secret)))).toBe('invalid_code')
    expect(await outcome(twoFactor.enable(ada.id, 'abc'))).toBe('invalid_code')
    clock.pass(10 * MINUTE)
    expect(await outcome(twoFactor.enable(ada.id, codeOf(second.secret)))).toBe('conflict')
    const third = await twoFactor.setUp(ada.id, 'svc')
    clock.pass(10 * MINUTE - 1)
    expect(await outcome(twoFactor.enable(ada.id, codeOf(third.secret)))).toBe('ok')
    expect(await login('ada')).toHaveProperty('pending_token')
  })

  test('is refused while it is on', async () => {
    const { accounts, ada, code } = await withFactor()
    expect(await outcome(accounts.twoFactor.setUp(ada.id, 'svc'))).toBe('conflict')
    expect(await outcome(accounts.twoFactor.enable(ada.id, code()))).toBe('conflict')
  })

  test('lets the code that enabled it serve for one login, and for nothing else', async () => {
    const world = await makeWorld()
    const { accounts, clock } = world
    const ada = await accounts.create({ username: 'ada', password: PASSWORD })
    const { secret } = await accounts.twoFactor.setUp(ada.id, 'svc')
    const code = generateSync({ secret, epoch: Math.floor(clock.now() / 1_000) })
    await accounts.twoFactor.enable(ada.id, code)
    expect(await outcome(accounts.twoFactor.disable(ada.id, code))).toBe('invalid_code')
    expect(await outcome(accounts.twoFactor.regenerateBackupCodes(ada.id, code))).toBe('invalid_code')
    const pending = async () => ((await world.login('ada')) as { pending_token: string }).pending_token
    const complete = async () => accounts.completeLogin({ pending_token: await pending(), code, ip: IP })
    expect(await outcome(complete())).toBe('ok')
    expect(await outcome(complete())).toBe('invalid_code')
  })
})

describe('switching the second factor off', () => {
  test('takes a code newer than that of the last login, and forgets everything', async () => {
    const { accounts, ada, clock, database, login, pending, complete, code } = await withFactor()
    await complete(await pending(), code())
    expect(await outcome(accounts.twoFactor.disable(ada.id, code()))).toBe('invalid_code')
    clock.pass(STEP)
    await accounts.twoFactor.disable(ada.id, code())
    expect(await accounts.twoFactor.status(ada.id)).toMatchObject({ enabled: false, backup_codes_left: 0 })
    expect(await database.read.q.selectFrom('second_factors').selectAll().execute()).toEqual([])
    expect(await login('ada')).toHaveProperty('token')
    expect(await outcome(accounts.twoFactor.disable(ada.id, code()))).toBe('conflict')
    expect(await outcome(accounts.twoFactor.regenerateBackupCodes(ada.id, code()))).toBe('conflict')
  })

  test('counts wrong codes together with those of logins', async () => {
    const { accounts, ada, pending, complete, code, wrong } = await withFactor()
    for (let time = 0; time < 3; time += 1)
      expect(await outcome(accounts.twoFactor.disable(ada.id, wrong()))).toBe('invalid_code')
    for (let time = 0; time < 2; time += 1)
      expect(await outcome(complete(await pending(), wrong()))).toBe('invalid_code')
    expect(await outcome(accounts.twoFactor.disable(ada.id, code()))).toBe('account_locked')
    expect(await outcome(complete(await pending(), code()))).toBe('account_locked')
    expect((await accounts.twoFactor.status(ada.id)).enabled).toBe(true)
  })
})
