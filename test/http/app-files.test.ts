import { describe, expect, onTestFinished, test } from 'vitest'
import { apps } from '../../src/contract/apps.ts'
import { INLINE_MAX } from '../../src/storage/contents/contents.ts'
import { openLocal } from '../../src/wiring/local-domain.ts'
import { appPackage } from '../support/app-package.ts'
import { bytesOf, sha256Of } from '../support/contents.ts'
import { openRaw, rawHead, readRaw } from '../support/raw.ts'
import { serverOfTest, settingsNoticed, serverOfFile, type TestServer } from '../support/server.ts'
import { commitsSeenBy } from '../support/state.ts'

const PAGE = '<!doctype html><h1>Clock</h1>'
const LARGE = bytesOf(INLINE_MAX + 5_000)
const files = {
  'index.html': PAGE,
  'style.css': 'h1 {}',
  'app.mjs': 'export {}',
  'old.js': '/* 1842 */ // then\n"use strict"; 1',
  'none.js': '',
  'large.js': `'use what'\n${'/'.repeat(INLINE_MAX + 1)}`,
  'data.json': '{}',
  'icon.svg': '<svg/>',
  'font.woff2': 'wOF2',
  'run.wasm': '\0asm',
  'empty.txt': '',
  'what.ever-known': '?',
  'img/large.png': LARGE,
  'a/b/c/deep.html': '<p>',
}

const server = await serverOfFile()
await server.local.domain.desktop.releases.install(appPackage(files))

const get = (path: string, headers: Record<string, string> = {}, on = server) => on.send(`/apps/${path}`, { headers })

describe('a file of an installed app', () => {
  test.each([
    ['index.html', 'text/html; charset=utf-8', 'no-cache'],
    ['style.css', 'text/css; charset=utf-8', 'no-cache'],
    ['data.json', 'application/json; charset=utf-8', 'no-cache'],
    ['app.json', 'application/json; charset=utf-8', 'no-cache'],
    ['icon.svg', 'image/svg+xml; charset=utf-8', 'public, max-age=3600'],
    ['font.woff2', 'font/woff2', 'public, max-age=3600'],
    ['run.wasm', 'application/wasm', 'no-cache'],
    ['empty.txt', 'text/plain; charset=utf-8', 'no-cache'],
    ['what.ever-known', 'application/octet-stream', 'no-cache'],
    ['img/large.png', 'image/png', 'public, max-age=3600'],
    ['a/b/c/deep.html', 'text/html; charset=utf-8', 'no-cache'],
  ])('%s comes as %s, to be kept %s', async (path, type, cache) => {
    const { status, headers, bytes } = await get(`clock/${path}`)
    const content =
      path === 'app.json' ? bytes : Buffer.from((files as Record<string, string | Uint8Array>)[path]! as string)
    expect(status).toBe(200)
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': type,
      'cache-control': cache,
      'content-length': String(content.length),
      etag: `"${sha256Of(content)}"`,
      'accept-ranges': 'bytes',
    })
    expect(bytes.equals(content)).toBe(true)
  })

  test.each([
    ['app.mjs', 'for(', 'export {}'],
    ['old.js', "'use strict';for(", '/* 1842 */ // then\n"use strict"; 1'],
    ['none.js', 'for(', ''],
    ['large.js', 'for(', `'use what'\n${'/'.repeat(INLINE_MAX + 1)}`],
  ])('%s is a script, and removes WebRTC before it does anything', async (path, begin, content) => {
    const { status, headers, bytes } = await get(`clock/${path}`, { range: 'bytes=0-3' })
    const text = bytes.toString()
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-cache'])
    expect(headers.get('content-length')).toBe(String(bytes.length))
    expect(headers.get('content-type')).toMatch(/javascript/)
    expect(text.slice(0, begin.length)).toBe(begin)
    expect(text.endsWith(`;${content}`)).toBe(true)
    expect(text.split('\n').length).toBe(content.split('\n').length)
    const known = { 'if-none-match': headers.get('etag')! }
    expect((await get(`clock/${path}`, known)).status).toBe(304)
    // What a browser kept from before the statement was put in front is not taken for the same.
    expect((await get(`clock/${path}`, { 'if-none-match': `"${sha256Of(content)}"` })).status).toBe(200)
  })

  test('is for a frame without an origin, which loads nothing from elsewhere', async () => {
    const { headers } = await get('clock/index.html')
    expect(Object.fromEntries(headers)).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'SAMEORIGIN',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'unsafe-none',
      'cross-origin-resource-policy': 'cross-origin',
      'access-control-allow-origin': '*',
    })
    const policy = new Map(
      headers
        .get('content-security-policy')!
        .split('; ')
        .map((part) => [part.split(' ', 1)[0], part.slice(part.indexOf(' ') + 1)]),
    )
    expect(policy.get('sandbox')!.split(' ').sort()).toEqual(['allow-forms', 'allow-popups', 'allow-scripts'])
    expect(policy.get('default-src')).toBe("'none'")
    expect(policy.get('script-src')).toBe("'self' 'wasm-unsafe-eval'")
    expect(policy.get('frame-ancestors')).toBe("'self'")
    expect([...policy.values()].join(' ')).not.toMatch(/https?:|\*| 'unsafe-eval'|allow-same-origin|allow-top/)
    expect(headers.get('set-cookie')).toBeNull()
  })

  test.each([['clock/index.html'], ['clock/img/large.png']])('is only described to HEAD: %s', async (path) => {
    const whole = await get(path)
    const { status, headers, bytes } = await server.send(`/apps/${path}`, { method: 'HEAD' })
    const fixed = (of: Headers) =>
      Object.fromEntries([...of].filter(([name]) => !/^(date|connection|keep-alive)$/.test(name)))
    expect([status, bytes.length, fixed(headers)]).toEqual([200, 0, fixed(whole.headers)])
  })

  test('is not sent again to whoever has it', async () => {
    const tag = `"${sha256Of(PAGE)}"`
    for (const known of [tag, `"other", W/${tag}`, '*']) {
      const { status, headers, bytes } = await get('clock/index.html', { 'if-none-match': known })
      expect([known, status, bytes.length, headers.get('etag')]).toEqual([known, 304, 0, tag])
      expect(headers.get('content-security-policy')).toMatch(/^sandbox /)
    }
    expect((await get('clock/index.html', { 'if-none-match': '"other"' })).status).toBe(200)
  })

  test('comes in parts, as players ask for it', async () => {
    const part = await get('clock/img/large.png', { range: 'bytes=100-199' })
    expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes 100-199/${LARGE.length}`])
    expect(part.bytes.equals(LARGE.subarray(100, 200))).toBe(true)
    expect((await get('clock/img/large.png', { range: 'bytes=9999999-' })).status).toBe(416)
  })

  test('is there for whoever asks, signed in or not, and asking changes nothing', async () => {
    const { token } = await server.account()
    const before = await commitsSeenBy(server.database)
    expect((await server.send('/apps/clock/index.html', { token })).status).toBe(200)
    expect((await get('clock/index.html?theme=dark', { cookie: 'PHPSESSID=x', origin: 'null' })).status).toBe(200)
    expect(await commitsSeenBy(server.database)).toBe(before)
  })
})

describe('what is no address of a file', () => {
  const hostile = [
    '/apps',
    '/apps/',
    '/apps/clock',
    '/apps/clock/',
    '/apps/clock/img',
    '/apps/clock/img/',
    '/apps/clock/nothing.html',
    '/apps/clock/INDEX.HTML',
    '/apps/CLOCK/index.html',
    '/apps/nothing/index.html',
    '/apps//clock/index.html',
    '/apps/clock//index.html',
    '/apps/clock/./index.html',
    '/apps/clock/../clock/index.html',
    '/apps/clock/a/../index.html',
    '/apps/clock/../../etc/passwd',
    '/apps/clock/%69ndex.html',
    '/apps/clock%2findex.html',
    '/apps/clock/..%2f..%2fsvc.db',
    '/apps/clock/%2e%2e/%2e%2e/svc.db',
    '/apps/clock/..\\..\\svc.db',
    '/apps/clock/index.html%00',
    '/apps/clock/index.html/',
    '/apps/clock/index.html;x',
    '/apps/clock/index.html%20',
    `/apps/clock/${'a'.repeat(300)}`,
    `/apps/clock/${'a/'.repeat(200)}b`,
    "/apps/clock/'%20or%201=1",
    '/apps/__proto__/index.html',
    '/APPS/clock/index.html',
  ]
  test.each(hostile)('%s is not found', async (target) => {
    const raw = await openRaw(server.url)
    raw.write(rawHead('GET', target, { connection: 'close' }))
    const { status, body } = readRaw(await raw.answer())
    expect([target, status, JSON.parse(body)]).toEqual([
      target,
      404,
      { ok: false, success: false, error: 'Nicht gefunden', code: 'not_found' },
    ])
  })

  test.each(['/apps/clock/%zz', '/apps/clock/%', '/apps/clock/%c0%ae'])('%s is no address at all', async (target) => {
    const raw = await openRaw(server.url)
    raw.write(rawHead('GET', target, { connection: 'close' }))
    const answer = await raw.answer()
    const { status, body } = readRaw(answer)
    expect([status, JSON.parse(body)]).toEqual([
      400,
      { ok: false, success: false, error: 'The address is not valid.', code: 'bad_request' },
    ])
    expect(answer).toContain('x-content-type-options: nosniff')
  })

  test.each(['POST', 'PUT', 'DELETE', 'PATCH'])('%s changes nothing', async (method) => {
    const before = await commitsSeenBy(server.database)
    expect((await server.send('/apps/clock/index.html', { method })).status).toBe(404)
    expect(await commitsSeenBy(server.database)).toBe(before)
  })

  test('a refusal is not for a frame, and does not speak of apps', async () => {
    const { headers } = await get('clock/nothing.html')
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    expect(headers.get('access-control-allow-origin')).toBeNull()
  })
})

describe('the way of an app', () => {
  const page = async (on: TestServer) => {
    const { status, bytes } = await get('clock/index.html', {}, on)
    return status === 200 ? bytes.toString() : status
  }

  test('is installed, listed, served, updated, rolled back and removed, at once in every process', async () => {
    const own = await serverOfTest()
    const user = await own.account()
    // Another process on the same data, as a command is one.
    const local = await openLocal({ dataDir: own.dataDir, env: own.env, clock: own.clock })
    onTestFinished(() => local.close())
    const { registry, releases } = local.domain.desktop
    const listed = async () =>
      ((await user.call(apps.actions.list)).json['apps'] as { slug: string }[]).find(({ slug }) => slug === 'clock')

    expect([await page(own), await listed()]).toEqual([404, undefined])
    const first = appPackage(
      { 'index.html': 'one', 'icon.svg': '<svg/>' },
      { icon: 'icon.svg', supports_context: true },
    )
    await releases.install(first)
    expect(await page(own)).toBe('one')
    expect(await listed()).toMatchObject({
      name: 'Clock',
      is_system: true,
      app_path: '/apps/clock/index.html',
      icon_url: '/apps/clock/icon.svg',
      supports_context: true,
    })

    const second = appPackage({ 'start.html': 'two' }, { version: '2.0.0', entry: 'start.html', name: 'Watch' })
    await releases.update('clock', second, false)
    expect(await listed()).toMatchObject({ name: 'Watch', app_path: '/apps/clock/start.html', icon_url: '' })
    expect((await get('clock/start.html', {}, own)).bytes.toString()).toBe('two')
    expect((await get('clock/icon.svg', {}, own)).status).toBe(404)

    await releases.rollback('clock')
    expect(await listed()).toMatchObject({ name: 'Clock', icon_url: '/apps/clock/icon.svg' })
    expect([await page(own), (await get('clock/start.html', {}, own)).status]).toEqual(['one', 404])

    await registry.disable('clock')
    await settingsNoticed()
    expect([await page(own), await listed()]).toEqual([404, undefined])
    await registry.enable('clock')
    await settingsNoticed()
    expect(await page(own)).toBe('one')

    await registry.remove('clock', false)
    expect([await page(own), await listed()]).toEqual([404, undefined])
    const entries = await own.local.domain.instance.audit.list({ limit: 100 })
    expect(
      entries.map(({ kind, actor }) => [kind, actor.replace(/\d+/, 'N')]).filter(([kind]) => kind!.startsWith('app.')),
    ).toEqual(
      ['removed', 'enabled', 'disabled', 'rolled_back', 'updated', 'installed'].map((what) => [`app.${what}`, 'cli:N']),
    )
  })

  test('cannot be changed by users of the interface', async () => {
    const own = await serverOfTest()
    const root = await own.account({ role: 'admin' })
    const { app } = await own.local.domain.desktop.releases.install(appPackage())
    for (const action of [apps.actions.update, apps.actions.delete])
      expect((await root.call(action, { id: app.id, name: 'Mine' })).status).toBe(403)
    expect((await root.call(apps.actions.create, { name: 'Mine', slug: 'clock' })).status).toBe(409)
    expect(await page(own)).toBe('<h1>Clock</h1>')
  })

  test('shown to administrators only when its manifest says so', async () => {
    const own = await serverOfTest()
    await own.local.domain.desktop.releases.install(appPackage({}, { admin_only: true }))
    const seen = async (role: 'admin' | 'user') =>
      JSON.stringify((await (await own.account({ role })).call(apps.actions.list)).json).includes('"clock"')
    expect([await seen('admin'), await seen('user')]).toEqual([true, false])
  })
})
