import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DAY, HOUR, iso, MINUTE } from '../../src/base/clock.ts'
import { openBrowser, newUser, PASSWORD, secondFactor, sessionOf, signedIn, type Browser } from '../support/browser.ts'
import { backupTarget } from '../../src/wiring/backups/backup-locations.ts'
import { noPassphrases } from '../support/backups.ts'
import { folderOfTest, serverOfTest, startServer, type TestServer } from '../support/server.ts'
import { checks } from '../../src/wiring/doctor/doctor.ts'

let server: TestServer
beforeAll(async () => void (server = await startServer()))
afterAll(() => server.close())

type Listed = { id: number; username: string; [field: string]: unknown }

/** An administrator at work in a browser. */
async function administrator(on: TestServer) {
  const { id, username } = await newUser(on, 'admin')
  const browser = await signedIn(on, username)
  const query = (params: object) =>
    Object.entries(params)
      .map(([name, value]) => `&${name}=${encodeURIComponent(String(value))}`)
      .join('')
  return {
    id,
    username,
    browser,
    get: async (action: string, params: object = {}) =>
      (await browser.get(`/api/admin.php?action=${action}${query(params)}`)).json,
    post: async (action: string, params: object = {}) =>
      (await browser.post(`/api/admin.php?action=${action}`, params)).json,
    /** With the own password. */
    dare: async (action: string, params: object) =>
      (await browser.post(`/api/admin.php?action=${action}`, { ...params, current_password: PASSWORD })).json,
    status: async (action: string, params: object = {}) =>
      (await browser.post(`/api/admin.php?action=${action}`, params)).status,
  }
}

/** What the audit log says of the account, oldest first. */
const told = async (on: TestServer, user: string) =>
  (await on.local.domain.instance.audit.list({ user, limit: 100 }))
    .reverse()
    .map(({ kind, actor, target }) => [kind, actor, target])

const isSignedIn = async (browser: Browser) => (await browser.get('/api/session.php')).status === 200

describe('accounts', () => {
  test('are listed with what they use, filtered, in order, and a page at a time', async () => {
    const one = await serverOfTest()
    const root = await administrator(one)
    const [ada, grace] = [await one.account({ username: 'ada', quota: 100 }), await one.account({ username: 'grace' })]
    await ada.put('/notes.txt', 'x'.repeat(75))
    await one.local.domain.accounts.disable(grace.id)
    const names = async (params: object) =>
      ((await root.get('users', params))['users'] as Listed[]).map(({ username }) => username)

    const { users, total } = (await root.get('users')) as { users: Listed[]; total: number }
    expect(total).toBe(4)
    expect(users.find(({ id }) => id === ada.id)).toMatchObject({
      username: 'ada',
      role: 'user',
      state: 'active',
      used_bytes: 75,
      quota_bytes: 100,
      quota_is_default: false,
      quota_percent: 75,
      device_count: 1,
      two_factor: false,
      created_at: iso(one.clock.now()),
    })
    expect(users.find(({ id }) => id === grace.id)).toMatchObject({ quota_bytes: null, quota_is_default: true })
    expect(JSON.stringify(users)).not.toMatch(/hash|secret|token/)

    expect(await names({ search: 'ADA' })).toEqual(['ada'])
    expect(await names({ state: 'disabled' })).toEqual(['grace'])
    expect(await names({ state: 'locked' })).toEqual([])
    expect(await names({ role: 'admin', state: 'enabled' })).toContain(root.username)
    expect((await names({ sort: 'used' }))[0]).toBe('ada')
    expect(await names({ limit: 1, offset: 1, search: 'a', sort: 'name', state: 'enabled', role: 'user' })).toEqual([])
    expect(await names({ offset: 4 })).toEqual([])
    expect(await names({ limit: 5_000 })).toHaveLength(4)
    const all = await names({})
    expect(await names({ reverse: true })).toEqual(all.toReversed())
    expect([...(await names({ limit: 3 })), ...(await names({ limit: 3, offset: 3 }))]).toEqual(all)
    for (const wrong of [{ role: 'root' }, { state: '' }, { sort: 'id' }, { limit: 0 }, { inactive_days: 0 }])
      expect(await root.get('users', wrong)).toMatchObject({ code: 'bad_request' })
  })

  test('are shown with their second factor, sessions and devices', async () => {
    const root = await administrator(server)
    const { id, username } = await newUser(server)
    await secondFactor(server, id)
    await sessionOf(server, id)
    await server.local.domain.accounts.mintToken(id, { ttl: DAY, name: 'Laptop' })
    const { user } = await root.get('user', { user_id: id })
    expect(user).toMatchObject({
      username,
      two_factor: true,
      two_factor_since: iso(server.clock.now()),
      backup_codes_left: 8,
      bypass_until: null,
      sessions: [{ ip: '127.0.0.1', user_agent: 'Browser' }],
      devices: [{ device_name: 'Laptop' }],
    })
    expect(await root.get('user', { user_id: 999_999 })).toMatchObject({ code: 'not_found' })
  })

  test('are made, changed, and kept out; the log names the administrator', async () => {
    const root = await administrator(server)
    const made = await root.post('create_user', {
      username: 'Grace',
      password: PASSWORD,
      display_name: 'Grace <b>Hopper</b>',
      quota_bytes: 1_000,
    })
    const { id } = made['user'] as Listed
    expect(made['user']).toMatchObject({
      username: 'grace',
      display_name: 'Grace <b>Hopper</b>',
      role: 'user',
      quota_bytes: 1_000,
    })
    expect(await root.post('create_user', { username: 'GRACE', password: PASSWORD })).toMatchObject({ code: 'exists' })
    for (const wrong of [
      { username: 'not a name', password: PASSWORD },
      { username: 'short', password: 'short' },
      { username: 'common', password: 'password' },
      { username: 'huge', password: 'x'.repeat(1_025) },
    ])
      expect(await root.post('create_user', wrong)).toMatchObject({ code: 'bad_request' })

    const change = async (changes: object) => (await root.post('update_user', { user_id: id, ...changes }))['user']
    expect(await change({ quota_bytes: null })).toMatchObject({ quota_bytes: null, quota_is_default: false })
    expect(await change({ quota_is_default: true })).toMatchObject({ quota_is_default: true })
    expect(await change({ display_name: 'Grace' })).toMatchObject({ display_name: 'Grace' })
    for (const wrong of [{}, { quota_bytes: 5, quota_is_default: true }, { quota_is_default: false }])
      expect(await root.post('update_user', { user_id: id, ...wrong })).toMatchObject({ code: 'bad_request' })

    const theirs = await signedIn(server, 'grace')
    expect(await root.post('disable_user', { user_id: id })).toMatchObject({
      user: { state: 'disabled' },
      sessions_ended: 1,
      devices_ended: 0,
    })
    expect(await isSignedIn(theirs)).toBe(false)
    expect((await openBrowser(server).login('grace')).status).toBe(401)
    expect(await root.post('enable_user', { user_id: id })).toMatchObject({ user: { state: 'active' } })
    expect((await openBrowser(server).login('grace')).status).toBe(200)

    const by = (kind: string) => [kind, root.username, 'grace']
    expect(await told(server, 'grace')).toEqual([
      by('user.created'),
      by('user.changed'),
      by('user.changed'),
      by('user.changed'),
      ['login.ok', 'grace', null],
      by('user.disabled'),
      ['login.failed', 'anonymous', 'grace'],
      by('user.enabled'),
      ['login.ok', 'grace', null],
    ])
    const [entry] = await server.local.domain.instance.audit.list({ kinds: ['user.created'], user: 'grace', limit: 1 })
    expect(entry).toMatchObject({ actor_id: root.id, ip: '127.0.0.1' })
  })

  test('are unlocked', async () => {
    const root = await administrator(server)
    const { id, username } = await newUser(server)
    for (let time = 0; time < 5; time += 1) await openBrowser(server).login(username, 'wrong password')
    expect((await root.get('users', { search: username }))['users']).toMatchObject([{ state: 'locked' }])
    expect(await root.post('unlock_user', { user_id: id })).toMatchObject({
      was_locked: true,
      user: { state: 'active' },
    })
    expect(await root.post('unlock_user', { user_id: id })).toMatchObject({ was_locked: false })
    expect((await openBrowser(server).login(username)).status).toBe(200)
    expect(await told(server, username)).toContainEqual(['user.unlocked', root.username, username])
  })

  test('are signed out, with or without their devices; the calling session stays', async () => {
    const root = await administrator(server)
    const { id, username } = await newUser(server)
    const theirs = await signedIn(server, username)
    await server.local.domain.accounts.mintToken(id, { ttl: DAY, name: 'Laptop' })
    expect(await root.post('sign_out', { user_id: id })).toMatchObject({ sessions_ended: 1, devices_ended: 0 })
    expect(await isSignedIn(theirs)).toBe(false)
    expect(await root.post('sign_out', { user_id: id, devices: true })).toMatchObject({
      sessions_ended: 0,
      devices_ended: 1,
    })
    expect(await told(server, username)).toEqual(
      expect.arrayContaining([
        ['session.ended', root.username, username],
        ['token.revoked', root.username, username],
      ]),
    )
    const elsewhere = await signedIn(server, root.username)
    expect(await root.post('sign_out', { user_id: root.id })).toMatchObject({ sessions_ended: 1 })
    expect([await isSignedIn(elsewhere), await isSignedIn(root.browser)]).toEqual([false, true])
    expect(await root.post('sign_out', { user_id: 999_999 })).toMatchObject({ code: 'not_found' })
  })
})

describe('what opens an account', () => {
  test('is given and taken only with the password of whoever asks', async () => {
    const root = await administrator(server)
    const { id } = await newUser(server)
    const before = await server.local.domain.instance.audit.newest()
    const dangerous = [
      ['set_role', { user_id: id, role: 'admin' }],
      ['set_password', { user_id: id, password: 'difference engine' }],
      ['reset_2fa', { user_id: id }],
      ['bypass_2fa', { user_id: id }],
      ['remove_user', { user_id: id }],
      ['create_user', { username: 'second-root', password: PASSWORD, role: 'admin' }],
    ] as const
    for (const [action, params] of dangerous) {
      expect([action, await root.status(action, params)]).toEqual([action, 400])
      expect([action, await root.status(action, { ...params, current_password: '' })]).toEqual([action, 400])
    }
    for (const [action, params] of dangerous.slice(0, 4)) {
      const refused = await root.post(action, { ...params, current_password: 'something else' })
      expect([action, refused['code']]).toEqual([action, 'invalid_credentials'])
    }
    expect(await isSignedIn(root.browser)).toBe(true)
    const since = await server.local.domain.instance.audit.after(before, 100)
    expect(since.map(({ kind, target }) => [kind, target])).toEqual(
      Array.from({ length: 4 }, () => ['login.failed', root.username]),
    )
    // They count: one more locks the account.
    await root.post('remove_user', { user_id: id, current_password: 'something else' })
    expect(await root.dare('remove_user', { user_id: id })).toMatchObject({ code: 'account_locked' })
    expect((await root.get('user', { user_id: id }))['user']).toMatchObject({ role: 'user', state: 'active' })
  })

  test('is changed for others, and the log names the administrator', async () => {
    const root = await administrator(server)
    const { id, username } = await newUser(server)
    const { backup } = await secondFactor(server, id)
    const { code, expires_at } = (await root.dare('bypass_2fa', { user_id: id, minutes: 30 })) as {
      code: string
      expires_at: string
    }
    expect(expires_at).toBe(iso(server.clock.now() + 30 * MINUTE))
    const theirs = openBrowser(server)
    await theirs.login(username)
    expect((await theirs.post('/login-2fa.php', { backup_code: code })).status).toBe(200)

    expect(await root.dare('reset_2fa', { user_id: id })).toMatchObject({ was: 'on', sessions_ended: 1 })
    expect(await root.dare('reset_2fa', { user_id: id })).toMatchObject({ was: 'off', sessions_ended: 0 })
    expect(await root.dare('bypass_2fa', { user_id: id })).toMatchObject({ code: 'conflict' })
    expect((await openBrowser(server).login(username)).json).not.toHaveProperty('requires_2fa')

    const { accounts } = server.local.domain
    for (const name of ['Laptop', 'Telephone']) await accounts.mintToken(id, { ttl: 30 * MINUTE, name })
    const had = (await accounts.devices(id)).length
    const password = 'difference engine'
    expect(await root.dare('set_password', { user_id: id, password, keep_devices: true })).toMatchObject({
      sessions_ended: 1,
      devices_ended: 0,
    })
    expect(await accounts.devices(id)).toHaveLength(had)
    expect(await root.dare('set_password', { user_id: id, password })).toMatchObject({
      sessions_ended: 0,
      devices_ended: had,
    })
    expect(await accounts.devices(id)).toEqual([])
    expect((await openBrowser(server).login(username)).status).toBe(401)
    expect(await root.dare('set_role', { user_id: id, role: 'admin' })).toMatchObject({ user: { role: 'admin' } })
    const by = (kind: string) => [kind, root.username, username]
    expect((await told(server, username)).filter(([, actor]) => actor === root.username)).toEqual([
      by('2fa.bypass_made'),
      by('2fa.reset'),
      by('user.password'),
      by('user.password'),
      by('user.changed'),
    ])
    const log = JSON.stringify(await server.local.domain.instance.audit.list({ limit: 1_000 }))
    for (const hidden of [code, 'difference engine', PASSWORD, ...backup]) expect(log).not.toContain(hidden)
  })

  test('is never an administrator’s own', async () => {
    const root = await administrator(server)
    const self = { user_id: root.id }
    expect(await root.post('disable_user', self)).toMatchObject({ code: 'conflict' })
    for (const [action, params] of [
      ['set_role', { role: 'user' }],
      ['set_password', { password: 'difference engine' }],
      ['reset_2fa', {}],
      ['bypass_2fa', {}],
      ['remove_user', {}],
    ] as const)
      expect([action, (await root.dare(action, { ...self, ...params }))['code']]).toEqual([action, 'conflict'])
    expect(await isSignedIn(root.browser)).toBe(true)
    expect((await root.get('user', self))['user']).toMatchObject({ role: 'admin', state: 'active' })
    // The own name and quota are no way to be locked out.
    expect(await root.post('update_user', { ...self, quota_bytes: 5 })).toMatchObject({ user: { quota_bytes: 5 } })
  })

  test('is never taken from the last administrator, also when two take it from each other', async () => {
    const one = await serverOfTest({ administered: false })
    const [root, other] = [await administrator(one), await administrator(one)]
    const answers = await Promise.all([
      root.dare('set_role', { user_id: other.id, role: 'user' }),
      other.dare('set_role', { user_id: root.id, role: 'user' }),
    ])
    expect(answers.filter(({ ok }) => ok === true)).toHaveLength(1)
    const admins = await one.local.domain.accounts.list({ role: 'admin' })
    expect(admins).toHaveLength(1)
  })
})

describe('removing an account', () => {
  test('says before what goes, and gives the files to somebody else', async () => {
    const root = await administrator(server)
    const [leaver, heir] = [await server.account({ username: 'leaver' }), await server.account({ username: 'heir' })]
    await leaver.put('/plans/engine.txt', 'brass')
    const plan = await root.get('removal', { user_id: leaver.id, files_to: heir.id })
    expect(plan).toMatchObject({
      has: { files: 1, folders: 1, bytes: 5, devices: 1 },
      hands_over: { username: 'heir', folder: '/Files of leaver', used_bytes: 5, quota_bytes: null },
    })
    expect((await root.get('removal', { user_id: leaver.id }))['hands_over']).toBeNull()
    expect(await root.get('removal', { user_id: leaver.id, files_to: leaver.id })).toMatchObject({
      code: 'bad_request',
    })
    expect(await root.get('removal', { user_id: leaver.id, files_to: 999_999 })).toMatchObject({ code: 'not_found' })
    const removed = await root.dare('remove_user', { user_id: leaver.id, files_to: heir.id })
    expect(removed).toMatchObject({ had: plan['has'], handed_over: plan['hands_over'] })
    expect((await heir.manifest()).files.map(({ path }) => path)).toEqual(['/Files of leaver/plans/engine.txt'])
    expect(await root.dare('remove_user', { user_id: leaver.id })).toMatchObject({ code: 'not_found' })
    expect(await told(server, 'leaver')).toEqual([['user.removed', root.username, 'leaver']])
  })
})

describe('quotas', () => {
  test('are reported with the sums of all, and the default is set', async () => {
    const one = await serverOfTest()
    const root = await administrator(one)
    const [ada, grace] = [await one.account({ username: 'ada', quota: 100 }), await one.account({ username: 'grace' })]
    await ada.put('/a.txt', 'x'.repeat(90))
    await grace.put('/b.txt', 'x'.repeat(200))
    const report = await root.get('usage')
    expect(report).toMatchObject({
      matching: 4,
      total: { accounts: 4, used_bytes: 290, files: 2 },
      default_quota_bytes: null,
      disk: { total_bytes: expect.any(Number) as number },
    })
    expect((report['accounts'] as Listed[]).slice(0, 2)).toMatchObject([
      { username: 'grace', used_bytes: 200, quota_bytes: null, quota_is_default: true, percent: null },
      { username: 'ada', used_bytes: 90, quota_bytes: 100, percent: 90 },
    ])
    expect(await root.get('usage', { over: 90 })).toMatchObject({ matching: 1, accounts: [{ username: 'ada' }] })
    expect(await root.get('usage', { sort: 'name', limit: 1 })).toMatchObject({ matching: 4, accounts: [{}] })

    expect(await root.post('set_default_quota', { quota_bytes: 400 })).toMatchObject({ default_quota_bytes: 400 })
    expect(await root.get('usage', { over: 50, sort: 'percent' })).toMatchObject({
      accounts: [{ username: 'ada' }, { username: 'grace', quota_bytes: 400, percent: 50 }],
    })
    const [entry] = await one.local.domain.instance.audit.list({ kinds: ['setting.changed'], limit: 1 })
    expect(entry).toMatchObject({ actor: root.username, detail: expect.stringContaining('quota.default') as string })
    expect(await root.post('set_default_quota', { quota_bytes: null })).toMatchObject({ default_quota_bytes: null })
    expect(await root.get('usage')).toMatchObject({ default_quota_bytes: null })
  })

  test('have a default that the configuration may have decided', async () => {
    const one = await serverOfTest({ flags: { 'quota.default': '10GB' } })
    const root = await administrator(one)
    const refused = await root.post('set_default_quota', { quota_bytes: 5 })
    expect(refused).toMatchObject({ code: 'conflict', error: expect.stringContaining('option') as string })
    expect(await root.get('usage')).toMatchObject({ default_quota_bytes: 10 * 1024 ** 3 })
  })
})

describe('maintenance', () => {
  test('closes the service for everybody else, and ends every session', async () => {
    const one = await serverOfTest()
    const root = await administrator(one)
    const { username } = await newUser(one)
    const theirs = await signedIn(one, username)
    expect(await root.get('maintenance')).toMatchObject({ maintenance: false, message: '', until: null })
    const until = iso(one.clock.now() + HOUR)
    expect(await root.post('begin_maintenance', { read_only: false, message: ' New disks. ', until })).toMatchObject({
      maintenance: true,
      read_only: false,
      message: 'New disks.',
      until,
      was_on: false,
      sessions_ended: 2,
    })
    expect([await isSignedIn(theirs), await isSignedIn(root.browser)]).toEqual([false, false])
    const refused = await openBrowser(one).login(username)
    expect([refused.status, refused.json['message']]).toEqual([503, 'New disks.'])
    const again = await signedIn(one, root.username)
    const state = (await again.get('/api/admin.php?action=maintenance')).json
    expect(state).toMatchObject({ maintenance: true, message: 'New disks.', until })
    const longer = await again.post('/api/admin.php?action=begin_maintenance', { read_only: false })
    expect(longer.json).toMatchObject({ was_on: true, sessions_ended: 0, until: null })
    expect(await isSignedIn(again)).toBe(true)
    expect((await again.post('/api/admin.php?action=end_maintenance')).json).toMatchObject({ was_on: true })
    expect((await again.post('/api/admin.php?action=end_maintenance')).json).toMatchObject({ was_on: false })
    expect((await openBrowser(one).login(username)).status).toBe(200)
    const kinds = ['maintenance.on', 'maintenance.off']
    const log = await one.local.domain.instance.audit.list({ kinds, limit: 10 })
    expect(log.map(({ kind, actor }) => [kind, actor]).reverse()).toEqual([
      ['maintenance.on', root.username],
      ['maintenance.on', root.username],
      ['maintenance.off', root.username],
    ])
  })

  test('that is read-only signs nobody out', async () => {
    const one = await serverOfTest()
    const root = await administrator(one)
    const theirs = await signedIn(one, (await newUser(one)).username)
    expect(await root.post('begin_maintenance', { read_only: true })).toMatchObject({ sessions_ended: 0 })
    expect([await isSignedIn(theirs), await isSignedIn(root.browser)]).toEqual([true, true])
    expect((await theirs.post('/api/filesystem.php?action=mkdir', { path: '/new' })).status).toBe(503)
  })

  test('takes one line and a moment that is to come', async () => {
    const root = await administrator(server)
    for (const wrong of [
      { message: 'two\nlines' },
      { message: 'x'.repeat(501) },
      { message: 'a\u202Eb' },
      { until: 'tomorrow morning' },
      { until: '2026-11-21T15:00' },
      { until: '2026-13-41T15:00:00Z' },
      { until: iso(server.clock.now() - 1) },
    ])
      expect(await root.post('begin_maintenance', { read_only: true, ...wrong })).toMatchObject({ code: 'bad_request' })
    expect(await root.get('maintenance')).toMatchObject({ maintenance: false })
  })
})

describe('backups', () => {
  test('are told of: when, where, the last, the proven one, and what the folder holds', async () => {
    const one = await serverOfTest()
    const root = await administrator(one)
    expect(await root.get('backups')).toMatchObject({
      schedule: null,
      place: null,
      next_at: null,
      last: null,
      failed: null,
      proven: null,
      stored: [],
      trouble: null,
    })
    const place = join(await folderOfTest(), 'backups')
    await one.set('backup.to', place)
    await one.set('backup.schedule', '30 * * * *')
    expect(await root.get('backups')).toMatchObject({ stored: [], trouble: expect.stringContaining(place) as string })
    const { domain, directory } = one.local
    const target = await backupTarget(
      { domain, directory },
      { to: place, encrypt: false, startsOver: false },
      noPassphrases,
    )
    const { manifest } = await domain.backups.create(target)
    await domain.backups.proved(manifest.id, place)
    const made = { id: manifest.id, place, at: iso(one.clock.now()) }
    expect(await root.get('backups')).toMatchObject({
      schedule: '30 * * * *',
      place,
      next_at: expect.stringMatching(/^2026-/) as string,
      overdue: false,
      last: made,
      proven: made,
      stored: [{ id: manifest.id, accounts: 2 }],
      stored_count: 1,
      trouble: null,
    })
    one.clock.pass(3 * HOUR)
    await domain.backups.failed('The disk is not there.', place)
    expect(await root.get('backups')).toMatchObject({
      overdue: true,
      failed: { message: 'The disk is not there.', at: iso(one.clock.now()) },
    })
    one.clock.pass(-DAY)
    expect(await root.get('backups')).toMatchObject({ overdue: false, in_future: true, last: made })
  })
})

describe('the installation', () => {
  test('is looked at by every check, and those who ask at once hear the same', async () => {
    const root = await administrator(server)
    const answers = await Promise.all([root.get('doctor'), root.get('doctor'), root.get('doctor')])
    for (const { checks: found } of answers) {
      const findings = found as { id: string; health: string; found: string; summary: string; remedy: string | null }[]
      expect(findings.map(({ id }) => id)).toEqual(['data-directory', ...checks.map(({ id }) => id)])
      for (const { health, summary, remedy } of findings) {
        expect(['ok', 'warning', 'failure']).toContain(health)
        expect(summary).not.toBe('')
        if (health !== 'ok') expect(remedy).not.toBe('')
      }
    }
  })

  test('shows and hides apps, but not the one that does so', async () => {
    const root = await administrator(server)
    const stateOf = async (slug: string) =>
      ((await root.get('apps'))['apps'] as { slug: string; disabled: boolean; source: string }[]).find(
        (app) => app.slug === slug,
      )
    expect(await stateOf('finance')).toMatchObject({ disabled: false, source: 'system' })
    expect(await root.post('disable_app', { slug: 'finance' })).toMatchObject({ changed: true })
    expect(await root.post('disable_app', { slug: 'finance' })).toMatchObject({ changed: false })
    expect(await stateOf('finance')).toMatchObject({ disabled: true })
    expect(await root.post('enable_app', { slug: 'finance' })).toMatchObject({ changed: true })
    expect(await root.post('disable_app', { slug: 'admin' })).toMatchObject({ code: 'conflict' })
    expect(await root.post('disable_app', { slug: 'no-such-app' })).toMatchObject({ code: 'not_found' })
    expect(await root.post('disable_app', { slug: '../admin' })).toMatchObject({ code: 'bad_request' })
    const log = await server.local.domain.instance.audit.list({ kinds: ['app.disabled', 'app.enabled'], limit: 2 })
    expect(log.map(({ kind, actor }) => [kind, actor])).toEqual([
      ['app.enabled', root.username],
      ['app.disabled', root.username],
    ])
  })
})

describe('the audit log', () => {
  type Page = { entries: { entry_id: number; at: string; kind: string; actor: string }[]; next: string | null }

  test('is read a page at a time, each entry once, also where many are of one moment', async () => {
    const one = await serverOfTest()
    const root = await administrator(one)
    for (let time = 0; time < 7; time += 1) {
      await newUser(one)
      if (time % 3 === 0) one.clock.pass(1_000)
    }
    const read: Page['entries'] = []
    let after: string | null = ''
    while (after !== null) {
      const page = (await root.get('audit', { limit: 2, ...(after && { after }) })) as unknown as Page
      expect(page.entries.length).toBeLessThanOrEqual(2)
      read.push(...page.entries)
      after = page.next
    }
    const all = await one.local.domain.instance.audit.list({ limit: 1_000 })
    expect(read.map(({ entry_id }) => entry_id)).toEqual(all.map(({ id }) => id))
  })

  test('is searched by user, kind and time', async () => {
    const root = await administrator(server)
    const { username } = await newUser(server)
    await signedIn(server, username)
    const entries = async (params: object) => ((await root.get('audit', params)) as unknown as Page).entries
    expect((await entries({ user: ` ${username.toUpperCase()} ` })).map(({ kind }) => kind)).toEqual([
      'login.ok',
      'user.created',
    ])
    expect((await entries({ user: username, kinds: 'user.*' })).map(({ kind }) => kind)).toEqual(['user.created'])
    const now = iso(server.clock.now())
    expect((await entries({ user: username, since: now })).length).toBe(2)
    expect(await entries({ user: username, until: now })).toEqual([])
    expect(await entries({ user: 'nobody-at-all' })).toEqual([])
    for (const wrong of [
      { kinds: 'nonsense' },
      { kinds: ',' },
      { since: 'yesterday' },
      { until: '2026-11-21' },
      { after: '5' },
      { after: '1-x' },
      { limit: 0 },
    ])
      expect(await root.get('audit', wrong)).toMatchObject({ code: 'bad_request' })
  })
})
