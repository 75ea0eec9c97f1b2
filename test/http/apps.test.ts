import { describe, expect, test } from 'vitest'
import { apps } from '../../src/contract/apps.ts'
import type { Account } from '../support/account.ts'
import { departures } from '../support/schemas.ts'
import { serverOfTest, serverOfFile } from '../support/server.ts'
import { commitsSeenBy } from '../support/state.ts'

const { list, create, create_custom, update, delete: remove } = apps.actions
const PATH = '/api/apps.php'

const server = await serverOfFile()
await server.set('apps.allowed_origins', ['https://apps.example', 'https://other.example:8443'])

let slugs = 0
const newSlug = () => `app-${++slugs}`
const admin = () => server.account({ role: 'admin', plantsCode: true })

type App = { id: number; name: string; slug: string } & Record<string, unknown>

const appsOf = async ({ call }: Account) => (await call(list)).json['apps'] as App[]
const find = async (account: Account, slug: string) => (await appsOf(account)).find((app) => app.slug === slug)

async function made(account: Account, params: object = {}): Promise<App> {
  const slug = newSlug()
  const reply = await account.call(create_custom, { name: 'Clock', slug, ...params })
  expect([reply.status, reply.json]).toEqual([201, { ok: true, id: expect.any(Number) as number }])
  return (await appsOf(account)).find(({ id }) => id === reply.json['id'])!
}

/** What a call is refused with, having made sure that it left everything as it is. */
async function refusal(account: Account, action: (typeof apps.actions)[keyof typeof apps.actions], params: object) {
  const before = await commitsSeenBy(server.database)
  const { status, json } = await account.call(action, params)
  expect(await commitsSeenBy(server.database)).toBe(before)
  return { params, status, code: json['code'] }
}

const BAD = { status: 400, code: 'bad_request' }
const FORBIDDEN = { status: 403, code: 'forbidden' }
const NOT_FOUND = { status: 404, code: 'not_found' }
const TAKEN = { status: 409, code: 'exists' }
const FULL = { status: 413, code: 'quota_exceeded' }

describe('the list', () => {
  const everybody = [
    ['apps', 'utility'],
    ['assistant', 'ai'],
    ['bookmarks', 'productivity'],
    ['calendar', 'productivity'],
    ['chat', 'communication'],
    ['components', 'utility'],
    ['contacts', 'communication'],
    ['docs', 'productivity'],
    ['files', 'productivity'],
    ['finance', 'finance'],
    ['help', 'utility'],
    ['notes', 'productivity'],
    ['places', 'maps'],
    ['settings', 'utility'],
    ['tasks', 'productivity'],
  ]

  test('of a new service shows the apps of the desktop by name, and to administrators one more', async () => {
    const fresh = await serverOfTest()
    const reply = await (await fresh.account()).call(list)
    expect([reply.status, departures(list.result, reply.json)]).toEqual([200, []])
    const shown = reply.json['apps'] as App[]
    expect(shown.map(({ slug, category }) => [slug, category])).toEqual(everybody)
    for (const app of shown) {
      expect(app).toMatchObject({ app_path: `/apps/${app.slug}/index.html`, is_system: true, icon_url: '' })
      expect(app['description']).toMatch(/\.$/)
    }
    const administered = await appsOf(await fresh.account({ role: 'admin' }))
    expect(administered.map(({ slug }) => slug)).toEqual(['admin', ...everybody.map(([slug]) => slug)])
  })

  test('needs no name of an action', async () => {
    const { token } = await server.account()
    const reply = await server.send(PATH, { token })
    expect([reply.status, reply.json['ok'], Array.isArray(reply.json['apps'])]).toEqual([200, true, true])
  })

  test('is for those who are signed in', async () => {
    const reply = await server.send(PATH)
    expect([reply.status, reply.json['code']]).toEqual([401, 'unauthorized'])
  })

  test('has the own custom apps among the others, and nobody else’s', async () => {
    const [ada, grace, root] = [await server.account(), await server.account(), await admin()]
    const clock = await made(ada, { name: 'bClock' })
    const names = (await appsOf(ada)).map(({ name }) => name)
    expect(names.indexOf('bClock')).toBe(names.indexOf('Assistant') + 1)
    for (const other of [grace, root]) expect(await find(other, clock.slug)).toBeUndefined()
  })

  test('stays the same when the service starts again', async () => {
    const first = await serverOfTest()
    const account = await first.account()
    const before = await appsOf(account)
    await first.local.close()
    const again = await serverOfTest({ dataDir: first.dataDir })
    expect(await appsOf(await again.account())).toEqual(before)
  })

  test('leaves out what an administrator disables, from the next request on', async () => {
    const one = await serverOfTest()
    const account = await one.account()
    await account.call(create_custom, { name: 'Clock', slug: 'clock' })
    await one.set('disabled_apps', ['chat', 'clock', 'nothing'])
    const slugsNow = async () => (await appsOf(account)).map(({ slug }) => slug)
    const less = await slugsNow()
    expect(less).not.toContain('chat')
    expect(less).not.toContain('clock')
    expect(less).toHaveLength(everybody.length - 1)
    expect((await appsOf(await one.account({ role: 'admin' }))).map(({ slug }) => slug)).not.toContain('chat')
    await one.set('disabled_apps', undefined)
    expect(await slugsNow()).toEqual(expect.arrayContaining(['chat', 'clock']))
  })
})

describe('create', () => {
  test('registers an app for everybody, with 201', async () => {
    const [root, user] = [await admin(), await server.account()]
    const slug = newSlug()
    const app = {
      name: 'Weather',
      slug,
      description: 'Rain or shine.\nToday and tomorrow.',
      icon_url: '/apps/weather/icon.png',
      app_path: '/apps/weather/start.html',
      category: 'maps',
      supports_context: true,
      is_system: true,
    }
    const reply = await root.call(create, app)
    expect([reply.status, reply.json]).toEqual([201, { ok: true, id: expect.any(Number) as number }])
    expect(await find(user, slug)).toEqual({ id: reply.json['id'], ...app })
  })

  test('needs no name of an action', async () => {
    const root = await admin()
    const slug = newSlug()
    const reply = await server.send(PATH, {
      method: 'POST',
      token: root.token,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Weather', slug, is_system: true }),
    })
    expect(reply.status).toBe(201)
    expect(await find(root, slug)).toMatchObject({
      description: '',
      icon_url: '',
      app_path: `/apps/${slug}/index.html`,
      category: 'utility',
      supports_context: false,
      is_system: true,
    })
  })

  test('makes a custom app of the administrator’s own without is_system', async () => {
    const [root, other] = [await admin(), await admin()]
    const slug = newSlug()
    await root.call(create, { name: 'Mine', slug })
    expect(await find(root, slug)).toMatchObject({ is_system: false, category: 'custom' })
    expect(await find(other, slug)).toBeUndefined()
  })

  test('is for administrators, whatever is sent', async () => {
    const user = await server.account()
    for (const params of [{ name: 'Weather', slug: newSlug() }, {}, { slug: 5 }])
      expect(await refusal(user, create, params)).toMatchObject(FORBIDDEN)
  })
})

describe('in a browser session', () => {
  async function inSession(role: 'admin' | 'user') {
    const { id } = await server.account({ role })
    const { sessions } = server.local.domain.accounts
    const cookie = await server.database.write('instance', (tx) =>
      sessions.begin(tx, id, { ip: '127.0.0.1', userAgent: 'test' }),
    )
    const headers = { cookie: `PHPSESSID=${cookie}`, 'content-type': 'application/json' }
    const token = { 'x-csrf-token': sessions.csrfToken(cookie) }
    const outcome = async (body: object, more: Record<string, string> = {}) => {
      const sent = { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify(body) }
      const { status, json } = await server.send(PATH, sent)
      return [status, json['code']]
    }
    return { outcome, token }
  }

  test('the token is asked for first, then the role, then the values', async () => {
    const [user, root] = [await inSession('user'), await inSession('admin')]
    const good = { name: 'Weather', slug: newSlug() }
    const before = await commitsSeenBy(server.database)
    for (const body of [good, {}]) {
      expect(await user.outcome(body)).toEqual([403, 'csrf'])
      expect(await user.outcome({ ...body, csrf_token: 'x' })).toEqual([403, 'csrf'])
      expect(await user.outcome(body, user.token)).toEqual([403, 'forbidden'])
      expect(await user.outcome({ ...body, csrf_token: user.token['x-csrf-token'] })).toEqual([403, 'forbidden'])
      expect(await root.outcome(body)).toEqual([403, 'csrf'])
    }
    expect(await root.outcome({}, root.token)).toEqual([400, 'bad_request'])
    expect(await commitsSeenBy(server.database)).toBe(before)
    expect(await root.outcome(good, root.token)).toEqual([201, undefined])
  })
})

describe('create_custom', () => {
  test('registers an app for its maker alone', async () => {
    const account = await server.account()
    const slug = newSlug()
    const { status, json } = await account.call(create_custom, { name: 'My clock', slug, is_system: true })
    expect([status, json]).toEqual([201, { ok: true, id: expect.any(Number) as number }])
    expect(await find(account, slug)).toEqual({
      id: json['id'],
      name: 'My clock',
      slug,
      description: '',
      icon_url: '',
      app_path: `/apps/${slug}/index.html`,
      category: 'custom',
      supports_context: false,
      is_system: false,
    })
  })

  test('may stand in the body, like any action', async () => {
    const account = await server.account()
    const slug = newSlug()
    const { status } = await server.send(PATH, {
      method: 'POST',
      token: account.token,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ action: 'create_custom', name: 'My clock', slug }),
    })
    expect([status, (await find(account, slug))?.name]).toEqual([201, 'My clock'])
  })

  test('ends at 100 apps of one user', async () => {
    const account = await server.account()
    const replies = await Promise.all(
      Array.from({ length: 100 }, () => account.call(create_custom, { name: 'Clock', slug: newSlug() })),
    )
    expect(replies.every(({ status }) => status === 201)).toBe(true)
    expect(await refusal(account, create_custom, { name: 'Clock', slug: newSlug() })).toMatchObject(FULL)
  })
})

describe('a slug', () => {
  test.each(['a', '0', 'a-b', 'a--', '7zip', 'x'.repeat(63)])('may be %s', async (slug) => {
    expect((await (await server.account()).call(create_custom, { name: 'Clock', slug })).status).toBe(201)
  })

  test.each([
    '',
    '-a',
    'A',
    'a_b',
    'a b',
    'a.b',
    'a/b',
    '../x',
    'ä',
    'a\n',
    'a\0',
    '__proto__',
    'x'.repeat(64),
    "'; drop table apps",
    5,
    null,
  ])('is not %j', async (slug) => {
    expect(await refusal(await server.account(), create_custom, { name: 'Clock', slug })).toMatchObject(BAD)
  })

  test('is taken once, whoever has it', async () => {
    const [ada, grace, root] = [await server.account(), await server.account(), await admin()]
    const { slug } = await made(ada)
    expect(await refusal(ada, create_custom, { name: 'Clock', slug })).toMatchObject(TAKEN)
    expect(await refusal(grace, create_custom, { name: 'Clock', slug })).toMatchObject(TAKEN)
    expect(await refusal(root, create, { name: 'Clock', slug, is_system: true })).toMatchObject(TAKEN)
    expect(await refusal(grace, create_custom, { name: 'Clock', slug: 'files' })).toMatchObject(TAKEN)
    const together = newSlug()
    const replies = await Promise.all([ada, grace].map((one) => one.call(create_custom, { name: 'C', slug: together })))
    expect(replies.map(({ status }) => status)).toEqual(expect.arrayContaining([201, 409]))
  })
})

describe('the details', () => {
  const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

  test.each([
    '/apps/clock/index.html',
    '/apps/clock',
    '/apps/wetter-für-heute/a.b.html',
    '/apps/a/b/c/d',
    '/apps/..a/b..',
    '/apps/a@b:c',
    'https://apps.example',
    'https://apps.example/',
    'https://apps.example:443/clock?theme=dark#now',
    'https://APPS.example/clock',
    'https://other.example:8443/x',
  ])('app_path may be %j', async (app_path) => {
    const account = await server.account()
    const app = await made(account, { app_path })
    expect(app['app_path']).toBe(app_path)
  })

  test.each([
    '',
    '/',
    '/apps',
    '/apps/',
    '/apps/clock/',
    '/apps//clock',
    '/apps/../api/session.php',
    '/apps/./clock',
    '/apps/clock/..',
    '/apps/%2e%2e/api/session.php',
    '/apps/%2E%2E/api',
    '/apps/..%2fapi',
    '/apps/.\t./api',
    '/apps/..\\api',
    '/apps\\..\\api',
    '/apps/clock?x=1',
    '/apps/clock#x',
    '/apps/a b',
    '/apps/a\nb',
    '/apps/a\u0085b',
    '/apps/a\0b',
    '/apps/a\ud800b',
    '/apps/<script>',
    '/APPS/clock',
    '/api/session.php',
    ' /apps/clock',
    'apps/clock',
    '//apps.example/clock',
    '/\\apps.example/clock',
    '\\\\apps.example',
    'http://apps.example/clock',
    'https:apps.example',
    'https:/apps.example',
    'https:\\\\apps.example',
    'HTTPS://apps.example',
    ' https://apps.example',
    'https://apps.example\\@evil.example',
    'https://apps.example@evil.example',
    'https://ada@apps.example',
    'https://ada:secret@apps.example',
    'https://@apps.example',
    'https://:@apps.example',
    'https://apps.example:8443/',
    'https://apps.example.evil.example',
    'https://evil.example/https://apps.example',
    'https://evilapps.example',
    'https://apps.example.',
    'https://other.example',
    'https://',
    'https://apps.exa\tmple',
    'javascript:alert(1)',
    'JavaScript:alert(1)',
    'java\nscript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'data:text/html;base64,PHNjcmlwdD4=',
    'blob:https://apps.example/1',
    'file:///etc/passwd',
    'about:blank',
    'vbscript:x',
    5,
    null,
  ])('app_path is not %j', async (app_path) => {
    const account = await server.account()
    expect(await refusal(account, create_custom, { name: 'Clock', slug: newSlug(), app_path })).toMatchObject(BAD)
  })

  test('app_path is of an allowed origin as of now', async () => {
    const one = await serverOfTest()
    const { call } = await one.account()
    const app = () => ({ name: 'Clock', slug: newSlug(), app_path: 'https://apps.example/clock' })
    expect((await call(create_custom, app())).status).toBe(400)
    await one.set('apps.allowed_origins', ['https://apps.example'])
    expect((await call(create_custom, app())).status).toBe(201)
    await one.set('apps.allowed_origins', [])
    expect((await call(create_custom, app())).status).toBe(400)
  })

  test.each([
    '',
    '/icons/clock.svg',
    '/apps/clock/icon.png',
    'https://pictures.example/clock.png?size=64',
    `data:image/png;base64,${PIXEL}`,
    'data:image/webp;base64,AAAA',
    'data:image/jpeg;base64,AAA=',
    'data:image/gif;base64,AA==',
  ])('icon_url may be %j', async (icon_url) => {
    expect((await made(await server.account(), { icon_url }))['icon_url']).toBe(icon_url)
  })

  test.each([
    'icon.png',
    '/',
    '//pictures.example/x.png',
    '/\\pictures.example/x.png',
    '/a/../b',
    '/a/%2e%2e/b',
    'http://pictures.example/x.png',
    'https://ada:secret@pictures.example/x.png',
    'https://ada@pictures.example/x.png',
    'javascript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'data:text/html;base64,AAAA',
    'data:image/svg+xml;base64,AAAA',
    'data:image/svg+xml,<svg onload=alert(1)>',
    'data:image/png,AAAA',
    'data:image/png;base64,',
    'data:image/png;base64,AA AA',
    'data:image/png;base64,AAAA"onerror="x',
    'data:image/png;charset=x;base64,AAAA',
    'DATA:image/png;base64,AAAA',
    ' data:image/png;base64,AAAA',
    'data:image/png;base64,AAAA\n',
    5,
  ])('icon_url is not %j', async (icon_url) => {
    const account = await server.account()
    expect(await refusal(account, create_custom, { name: 'Clock', slug: newSlug(), icon_url })).toMatchObject(BAD)
  })

  test.each([
    ['an empty name', { name: '' }],
    ['a name of spaces', { name: '  ' }],
    ['a name of 101 characters', { name: 'x'.repeat(101) }],
    ['a name of two lines', { name: 'a\nb' }],
    ['a name that turns direction', { name: 'a\u202eb' }],
    ['a category that is none', { category: 'games' }],
    ['an empty category', { category: '' }],
    ['a path that is too long', { app_path: `/apps/${'x'.repeat(2_000)}` }],
    ['an icon that is too large', { icon_url: `data:image/png;base64,${'A'.repeat(100_000)}` }],
    ['a description that is too long', { description: 'x'.repeat(2_001) }],
    ['a description with a NUL', { description: 'a\0' }],
    ['a flag that is a number', { supports_context: 1 }],
  ] as [string, object][])('refuse %s', async (_, wrong) => {
    const account = await server.account()
    expect(await refusal(account, create_custom, { name: 'Clock', slug: newSlug(), ...wrong })).toMatchObject(BAD)
    expect(await refusal(account, update, { id: (await made(account)).id, ...wrong })).toMatchObject(BAD)
  })
})

describe('update', () => {
  test('changes what is given and nothing else', async () => {
    const account = await server.account()
    const [app, other] = [await made(account), await made(account)]
    const changes = {
      name: 'Our clock',
      description: 'Tick.',
      icon_url: '/icons/clock.png',
      app_path: 'https://apps.example/clock',
      category: 'utility',
      supports_context: true,
    }
    for (const [field, value] of Object.entries(changes)) {
      const before = (await find(account, app.slug))!
      const reply = await account.call(update, { id: app.id, [field]: value })
      expect([reply.status, reply.json]).toEqual([200, { ok: true, id: app.id }])
      expect(await find(account, app.slug)).toEqual({ ...before, [field]: value })
    }
    await account.call(update, { id: app.id, supports_context: false, slug: 'stolen', is_system: true })
    expect(await find(account, app.slug)).toEqual({ ...app, ...changes, supports_context: false })
    expect((await account.call(update, { id: app.id })).status).toBe(200)
    expect(await find(account, other.slug)).toEqual(other)
  })

  test('checks addresses like create', async () => {
    const account = await server.account()
    const { id } = await made(account)
    for (const wrong of [
      { app_path: 'https://evil.example/' },
      { app_path: '/apps/../api' },
      { app_path: 'javascript:alert(1)' },
      { icon_url: 'data:image/svg+xml;base64,AAAA' },
    ])
      expect(await refusal(account, update, { id, ...wrong })).toMatchObject(BAD)
  })
})

describe.each([
  ['update', update, { name: 'Changed' }],
  ['delete', remove, {}],
] as const)('%s', (_, action, more) => {
  test('leaves apps of the system alone, for administrators too', async () => {
    const [user, root] = [await server.account(), await admin()]
    const slug = newSlug()
    await root.call(create, { name: 'Weather', slug, is_system: true })
    for (const one of [user, root])
      for (const name of ['files', slug])
        expect(await refusal(one, action, { id: (await find(one, name))!.id, ...more })).toMatchObject(FORBIDDEN)
  })

  test('does not find what is somebody else’s or nobody’s', async () => {
    const ada = await server.account()
    const app = await made(ada)
    for (const other of [await server.account(), await admin()]) {
      expect(await refusal(other, action, { id: app.id, ...more })).toMatchObject(NOT_FOUND)
      expect(await refusal(other, action, { id: 999_999, ...more })).toMatchObject(NOT_FOUND)
    }
    for (const id of [0, -1, 1.5, '1', null, 2 ** 53])
      expect(await refusal(ada, action, { id, ...more })).toMatchObject(BAD)
    expect(await find(ada, app.slug)).toEqual(app)
  })
})

test('an app that is made stands in the audit log with its address, one that is refused does not', async () => {
  const one = await serverOfTest()
  const [user, root] = [await one.account(), await one.account({ role: 'admin', plantsCode: true })]
  const headers = { 'user-agent': 'browser' }
  await root.call(create, { name: 'Weather', slug: 'weather', is_system: true }, { headers })
  await user.call(create_custom, { name: 'Clock', slug: 'clock' }, { headers })
  await user.call(create_custom, { name: 'Clock', slug: 'clock' }, { headers })
  await user.call(create, { name: 'Rain', slug: 'rain' }, { headers })
  const entries = await one.local.domain.instance.audit.list({ kinds: ['app.created'], limit: 10 })
  expect(entries.map(({ actor, ip, user_agent, detail }) => [actor, ip, user_agent, JSON.parse(detail!)])).toEqual([
    [user.username, '127.0.0.1', 'browser', { slug: 'clock', app_path: '/apps/clock/index.html', is_system: false }],
    [root.username, '127.0.0.1', 'browser', { slug: 'weather', app_path: '/apps/weather/index.html', is_system: true }],
  ])
})

test('delete removes an own app once and frees its slug', async () => {
  const [ada, grace] = [await server.account(), await server.account()]
  const [app, other] = [await made(ada), await made(ada)]
  const reply = await ada.call(remove, { id: app.id })
  expect([reply.status, reply.json]).toEqual([200, { ok: true }])
  expect(await find(ada, app.slug)).toBeUndefined()
  expect(await find(ada, other.slug)).toEqual(other)
  expect(await refusal(ada, remove, { id: app.id })).toMatchObject(NOT_FOUND)
  expect((await grace.call(create_custom, { name: 'Clock', slug: app.slug })).status).toBe(201)
})

test('the examples of the documentation work one after another on a new service', async () => {
  const fresh = await serverOfTest()
  const { call } = await fresh.account({ role: 'admin' })
  for (const action of [list, create, create_custom, update, remove]) {
    const reply = await call(action, action.example)
    const expected = 'status' in action ? 201 : 200
    expect([action.name, reply.status, departures(action.result, reply.json)]).toEqual([action.name, expected, []])
  }
})
