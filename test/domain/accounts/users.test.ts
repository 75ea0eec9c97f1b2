import { generateSync } from 'otplib'
import { describe, expect, test } from 'vitest'
import { auditEntries } from '../../../src/storage/instance/audit.ts'
import { IP, makeWorld, outcome, PASSWORD, refusal, tally } from './world.ts'

describe('a new user', () => {
  test('has an empty file tree, a counter, no rights and the default quota', async () => {
    const { accounts, database, clock } = await makeWorld()
    const ada = await accounts.create({ username: 'ada', password: PASSWORD })
    expect(ada).toEqual({
      id: ada.id,
      username: 'ada',
      display_name: 'ada',
      avatar_color: expect.stringMatching(/^#[0-9a-f]{6}$/) as string,
      role: 'user',
      quota_bytes: null,
      disabled_at: null,
      last_login_at: null,
      created_at: clock.now(),
      two_factor_since: null,
      removing_since: null,
      importing_at: null,
    })
    const nodes = await database.read.q.selectFrom('nodes').selectAll().where('user_id', '=', ada.id).execute()
    expect(nodes).toHaveLength(1)
    expect(nodes[0]).toMatchObject({
      parent_id: null,
      name: '',
      name_key: '',
      type: 'directory',
      sha256: null,
      trash_id: null,
    })
    const counters = await database.read.q.selectFrom('counters').selectAll().where('user_id', '=', ada.id).execute()
    expect(counters).toEqual([{ user_id: ada.id, seq: 0, oldest: 0, used_bytes: 0 }])
    expect((await accounts.list())[0]).toMatchObject({ effective_quota: 10 * 1024 ** 3, used_bytes: 0, devices: 0 })
  })

  test('is called by an ASCII name in lower case', async () => {
    const { accounts } = await makeWorld()
    const names = { Ada: 'ada', 'a.b_c-d': 'a.b_c-d', '0': '0', ['x'.repeat(64)]: 'x'.repeat(64) }
    for (const [given, kept] of Object.entries(names)) {
      expect((await accounts.create({ username: given, password: PASSWORD })).username).toBe(kept)
    }
  })

  test.each([
    '',
    ' ',
    ' ada',
    'ada ',
    'a da',
    '.ada',
    '-ada',
    '_ada',
    'ad\u00e4',
    '\u212aim',
    '\u0430da',
    'ada\0',
    'ada\n',
    'ada/..',
    'a@b',
    'x'.repeat(65),
    'system',
    'Anonymous',
  ])('cannot be called %j', async (username) => {
    const { accounts, database } = await makeWorld()
    const refused = await refusal(accounts.create({ username, password: PASSWORD }))
    expect(refused.code).toBe('bad_request')
    expect(refused.extra.fields).toMatchObject({ details: [{ path: 'username' }] })
    expect(await database.read.q.selectFrom('users').selectAll().execute()).toEqual([])
  })

  test('cannot take a name that is taken, in whatever case, even at the same moment', async () => {
    const { accounts, database } = await makeWorld()
    await accounts.create({ username: 'ada', password: PASSWORD })
    expect(await outcome(accounts.create({ username: 'ADA', password: PASSWORD }))).toBe('exists')
    const rivals = ['bob', 'Bob', 'BOB'].map((username) => outcome(accounts.create({ username, password: PASSWORD })))
    expect(tally(await Promise.all(rivals))).toEqual({ ok: 1, exists: 2 })
    for (const table of ['users', 'nodes', 'counters'] as const) {
      expect(await database.read.q.selectFrom(table).selectAll().execute()).toHaveLength(2)
    }
  })

  test.each([
    ['seven bytes', 'abcdef7', 'bad_request'],
    ['eight bytes', 'abcdefg8', 'ok'],
    ['eight bytes in four characters', 'äöüß', 'ok'],
    ['1024 bytes', 'ab'.repeat(512), 'ok'],
    ['1025 bytes', `${'ab'.repeat(512)}a`, 'bad_request'],
    ['1026 bytes in 513 characters', 'ä'.repeat(513), 'bad_request'],
    ['a common one', 'password1', 'bad_request'],
    ['a common one in other case', 'QwertyUiop', 'bad_request'],
    ['one character again and again', '$$$$$$$$$$', 'bad_request'],
    ['the name', 'Adalovelace', 'bad_request'],
    ['the name backwards', 'ecalevolada', 'bad_request'],
    ['NUL in it', 'analytical\0engine', 'bad_request'],
    ['half a character in it', 'analytical\ud800engine', 'bad_request'],
  ])('with a password of %s', async (_, password, expected) => {
    const { accounts } = await makeWorld()
    expect(await outcome(accounts.create({ username: 'adalovelace', password }))).toBe(expected)
    expect(await accounts.list()).toHaveLength(expected === 'ok' ? 1 : 0)
  })

  test('may have a common password where that is asked for, but never too short a one', async () => {
    const { accounts, login } = await makeWorld()
    expect(await outcome(accounts.create({ username: 'ada', password: 'short', allow_weak: true }))).toBe('bad_request')
    await accounts.create({ username: 'ada', password: 'password1', allow_weak: true })
    expect(await outcome(login('ada', 'password1'))).toBe('ok')
  })

  test.each(['', '   ', 'a\nb', 'a\0b', '\u202eevil', 'x'.repeat(101)])(
    'cannot be shown as %j',
    async (display_name) => {
      const { accounts } = await makeWorld()
      expect(await outcome(accounts.create({ username: 'ada', password: PASSWORD, display_name }))).toBe('bad_request')
      expect(await accounts.list()).toEqual([])
    },
  )

  test.each([-2, 1.5, Number.NaN, 2 ** 53])('cannot have a quota of %d', async (quota_bytes) => {
    const { accounts } = await makeWorld()
    expect(await outcome(accounts.create({ username: 'ada', password: PASSWORD, quota_bytes }))).toBe('bad_request')
  })
})

describe('users', () => {
  test('are found by name in any case', async () => {
    const { accounts } = await makeWorld()
    const ada = await accounts.create({ username: 'ada', password: PASSWORD })
    expect(await accounts.byName('ADA')).toEqual(ada)
    expect((await refusal(accounts.byName('bob'))).message).toBe('There is no user named "bob".')
  })

  test('are listed by name, with what they use and whether they are signed in, without hashes', async () => {
    const { accounts, database, token, clock } = await makeWorld()
    const bob = await accounts.create({ username: 'bob', password: PASSWORD, quota_bytes: -1 })
    await accounts.create({ username: 'ada', password: PASSWORD, quota_bytes: 5 })
    await token('bob', 'laptop-0001')
    await token('bob', 'phone-0001')
    await database.write('instance', (tx) =>
      tx.q.updateTable('counters').set({ used_bytes: 7 }).where('user_id', '=', bob.id).execute(),
    )
    const [first, second] = await accounts.list()
    expect(first).toMatchObject({ username: 'ada', quota_bytes: 5, effective_quota: 5, devices: 0 })
    expect(second).toMatchObject({
      username: 'bob',
      effective_quota: -1,
      used_bytes: 7,
      devices: 2,
      last_login_at: clock.now(),
    })
    expect(JSON.stringify([first, second])).not.toContain('argon2')
    clock.pass(91 * 24 * 60 * 60 * 1_000)
    expect((await accounts.list())[1]!.devices).toBe(0)
  })

  test('change one thing and keep the others', async () => {
    const { accounts } = await makeWorld()
    const ada = await accounts.create({ username: 'ada', password: PASSWORD, quota_bytes: 5 })
    expect(await accounts.update(ada.id, { display_name: ' Ada  L. ' })).toEqual({
      ...ada,
      display_name: 'Ada  L.',
      sessions_ended: 0,
    })
    expect(await accounts.update(ada.id, { quota_bytes: null })).toMatchObject({
      display_name: 'Ada  L.',
      quota_bytes: null,
    })
    expect(await accounts.update(ada.id, { role: 'admin' })).toMatchObject({ role: 'admin', quota_bytes: null })
    expect(await accounts.byName('ada')).toMatchObject({ display_name: 'Ada  L.', role: 'admin', quota_bytes: null })
  })

  test('get another password, which ends their sessions, and their devices unless they are kept', async () => {
    const { accounts, database, login, token } = await makeWorld()
    const ada = await accounts.create({ username: 'ada', password: PASSWORD })
    const key = await token('ada')
    expect(await outcome(accounts.setPassword(ada.id, 'ADA'.repeat(2)))).toBe('bad_request')
    expect(await outcome(accounts.setPassword(ada.id, 'password1'))).toBe('bad_request')
    const session = () =>
      database.write('instance', (tx) => accounts.sessions.begin(tx, ada.id, { ip: IP, userAgent: 'Browser' }))
    const cookies = [await session(), await session()]
    expect(await accounts.setPassword(ada.id, 'difference engine', { keep_devices: true })).toEqual({
      sessions: 2,
      devices: 0,
    })
    for (const cookie of cookies) expect(await accounts.sessions.authenticate(cookie, IP)).toBeUndefined()
    expect(await outcome(login('ada'))).toBe('invalid_credentials')
    expect(await accounts.authenticateDevice(key, IP)).toBeDefined()
    expect(await accounts.setPassword(ada.id, 'analytical engine no. 2')).toEqual({ sessions: 0, devices: 1 })
    expect(await accounts.authenticateDevice(key, IP)).toBeUndefined()
    expect(await outcome(login('ada', 'analytical engine no. 2'))).toBe('ok')
  })

  test('go with everything that is theirs, and with nothing of others', async () => {
    const { accounts, database, token, login } = await makeWorld()
    const ada = await accounts.create({ username: 'ada', password: PASSWORD })
    await accounts.create({ username: 'bob', password: PASSWORD })
    await accounts.twoFactor.setUp(ada.id, 'svc')
    await token('ada')
    await token('bob')
    for (let time = 0; time < 5; time += 1) await outcome(login('ada', 'wrong password'))
    await accounts.remove(ada.id)
    expect(await outcome(accounts.byName('ada'))).toBe('not_found')
    for (const table of ['users', 'nodes', 'counters', 'device_tokens'] as const) {
      expect(await database.read.q.selectFrom(table).selectAll().execute()).toHaveLength(1)
    }
    for (const table of ['second_factors', 'login_throttles'] as const) {
      expect(await database.read.q.selectFrom(table).selectAll().execute()).toEqual([])
    }
    expect(await outcome(accounts.create({ username: 'ada', password: PASSWORD }))).toBe('ok')
  })

  test('who are gone cannot be changed', async () => {
    const { accounts } = await makeWorld()
    const { id } = await accounts.create({ username: 'ada', password: PASSWORD })
    await accounts.remove(id)
    const attempts = [
      accounts.update(id, { role: 'admin' }),
      accounts.setPassword(id, 'difference engine'),
      accounts.disable(id),
      accounts.enable(id),
      accounts.unlock(id),
      accounts.remove(id),
      accounts.twoFactor.setUp(id, 'svc'),
    ]
    expect(tally(await Promise.all(attempts.map(outcome)))).toEqual({ not_found: 7 })
  })
})

describe('the sessions of a user', () => {
  test('end all at once, with logins that wait, and with nobody else being signed out', async () => {
    const { accounts, database, token, clock, login } = await makeWorld()
    const ada = await accounts.create({ username: 'ada', password: PASSWORD })
    const bob = await accounts.create({ username: 'bob', password: PASSWORD })
    const session = (id: number) =>
      database.write('instance', (tx) => accounts.sessions.begin(tx, id, { ip: IP, userAgent: 'Browser' }))
    const [first, second, others] = [await session(ada.id), await session(ada.id), await session(bob.id)]
    const device = await token('ada')
    const { secret } = await accounts.twoFactor.setUp(ada.id, 'svc')
    await accounts.twoFactor.enable(ada.id, generateSync({ secret, epoch: Math.floor(clock.now() / 1_000) }))
    await login('ada')
    expect(await accounts.sessions.endAll(ada.id)).toBe(2)
    for (const cookie of [first, second]) expect(await accounts.sessions.authenticate(cookie, IP)).toBeUndefined()
    expect(await database.read.q.selectFrom('pending_logins').selectAll().execute()).toEqual([])
    expect(await accounts.sessions.authenticate(others, IP)).toBeDefined()
    expect(await accounts.authenticateDevice(device, IP)).toBeDefined()
    expect(await accounts.sessions.endAll(ada.id)).toBe(0)
    const entries = await auditEntries(database.read, { kinds: ['session.ended'], limit: 5 })
    expect(entries.map(({ target, detail }) => [target, JSON.parse(detail!) as unknown])).toEqual([
      ['ada', { sessions_ended: 2, reason: 'revoked' }],
    ])
  })
})

test.each(['#0b61a', '#0b61a4f', '#0B61A4', 'blue', '', '#gggggg', '#0b61a4\n'])(
  'a user has no colour %j',
  async (avatar_color) => {
    const { accounts } = await makeWorld()
    const { id, avatar_color: before } = await accounts.create({ username: 'ada', password: PASSWORD })
    expect(await outcome(accounts.update(id, { avatar_color, role: 'admin' }))).toBe('bad_request')
    expect(await accounts.byName('ada')).toMatchObject({ avatar_color: before, role: 'user' })
  },
)

describe('the last administrator', () => {
  const withAdmins = async () => {
    const world = await makeWorld()
    const root = await world.accounts.create({ username: 'root', password: PASSWORD, role: 'admin' })
    const second = await world.accounts.create({ username: 'second', password: PASSWORD, role: 'admin' })
    return { ...world, root, second }
  }

  test('can be neither demoted, disabled nor removed', async () => {
    const { accounts, root, second, login } = await withAdmins()
    await accounts.disable(second.id)
    const refused = await refusal(accounts.update(root.id, { role: 'user' }))
    expect(refused.code).toBe('conflict')
    expect(refused.message).toContain('"root" is the only administrator')
    expect(await outcome(accounts.disable(root.id))).toBe('conflict')
    expect(await outcome(accounts.remove(root.id))).toBe('conflict')
    expect(await accounts.byName('root')).toMatchObject({ role: 'admin', disabled_at: null })
    expect(await outcome(login('root'))).toBe('ok')
    expect(await outcome(accounts.update(root.id, { role: 'admin', display_name: 'Root' }))).toBe('ok')
  })

  test('is the one who can sign in: one who is disabled may go', async () => {
    const { accounts, second } = await withAdmins()
    await accounts.disable(second.id)
    expect(await outcome(accounts.disable(second.id))).toBe('ok')
    expect(await outcome(accounts.update(second.id, { role: 'user' }))).toBe('ok')
    expect(await outcome(accounts.remove(second.id))).toBe('ok')
  })

  test('remains when two are to go at the same moment', async () => {
    const { accounts, root, second } = await withAdmins()
    const attempts = [outcome(accounts.remove(root.id)), outcome(accounts.update(second.id, { role: 'user' }))]
    expect(tally(await Promise.all(attempts))).toEqual({ ok: 1, conflict: 1 })
    expect((await accounts.list()).filter(({ role }) => role === 'admin')).toHaveLength(1)
  })

  test('remains when two demote, disable or remove each other at the same moment, in two processes', async () => {
    const { accounts, elsewhere } = await withAdmins()
    const other = elsewhere()
    const ways = [
      (on: typeof accounts, id: number) => on.update(id, { role: 'user' }),
      (on: typeof accounts, id: number) => on.disable(id),
      (on: typeof accounts, id: number) => on.remove(id),
    ]
    for (const [index, way] of ways.entries()) {
      const [one, two] = [`one-${index}`, `two-${index}`]
      const first = await accounts.create({ username: one, password: PASSWORD, role: 'admin' })
      const second = await accounts.create({ username: two, password: PASSWORD, role: 'admin' })
      for (const { username, id, role, disabled_at } of await accounts.list()) {
        if (username !== one && username !== two && role === 'admin' && disabled_at === null) await accounts.disable(id)
      }
      const attempts = [outcome(way(accounts, second.id)), outcome(way(other, first.id))]
      expect(tally(await Promise.all(attempts))).toEqual({ ok: 1, conflict: 1 })
      const left = (await accounts.list({ role: 'admin', disabled: false })).map(({ username }) => username)
      expect(left).toHaveLength(1)
    }
  })
})
