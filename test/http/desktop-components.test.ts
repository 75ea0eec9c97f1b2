import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { apps } from '../../src/contract/apps.ts'
import { assistant } from '../../src/contract/assistant.ts'
import { desktopComponents } from '../../src/contract/desktop-components.ts'
import type { Params } from '../../src/contract/define.ts'
import type { Account } from '../support/account.ts'
import { askFor, stage } from '../support/assistant.ts'
import { runCommandWith } from '../support/command.ts'
import { clientBy } from '../support/examples.ts'
import { departures } from '../support/schemas.ts'
import { folderOfTest, serverOfTest, serverOfFile } from '../support/server.ts'
import { commitsSeenBy } from '../support/state.ts'

const { actions } = desktopComponents
const { list, overview, get, save, history, activate, reset, reset_all } = actions
const { save_profile, load_profile, profiles, rename_profile, delete_profile } = actions
const PATH = '/api/desktop-components.php'
const NOON = '2026-11-21 12:00:00'

const server = await serverOfFile()

type Saved = Params<typeof save>
const css = (component_id: string, code = 'body {}', more: Partial<Saved> = {}): Saved => ({
  component_id,
  component_type: 'css',
  code,
  ...more,
})

/** An account with a component of two versions, of which the second is active. */
async function withClock(): Promise<Account> {
  const account = await server.account()
  await account.ask(save, css('clock', 'one'))
  await account.ask(save, css('clock', 'two', { component_type: 'widget', metadata: { corner: 'left' } }))
  return account
}

const active = async ({ ask }: Account) =>
  Object.fromEntries((await ask(list, {})).components.map((one) => [one.component_id, `${one.code} v${one.version}`]))

/** What a call is refused with, having made sure that it left everything as it is. */
async function refusal(account: Account, action: (typeof actions)[keyof typeof actions], params: object) {
  const before = await commitsSeenBy(server.database)
  const { status, json } = await account.call(action, params)
  expect(await commitsSeenBy(server.database)).toBe(before)
  expect(json).toMatchObject({ ok: false, success: false })
  return { params, status, code: json['code'], error: json['error'] }
}

const BAD = { status: 400, code: 'bad_request' }
const NOT_FOUND = { status: 404, code: 'not_found', error: 'Nicht gefunden' }
const FULL = { status: 413, code: 'quota_exceeded' }

describe('save', () => {
  test('numbers versions from one, each active in the place of the last', async () => {
    const account = await server.account({ plantsCode: true })
    expect((await account.call(save, css('clock', 'one'))).json).toEqual({
      ok: true,
      version: 1,
      component_id: 'clock',
    })
    const { version } = await account.ask(save, css('clock', 'two', { component_type: 'js', metadata: { a: [1] } }))
    expect(version).toBe(2)
    const reply = await account.call(list)
    expect(reply.json).toEqual({
      ok: true,
      components: [
        {
          id: expect.any(Number) as number,
          component_id: 'clock',
          component_type: 'js',
          code: 'two',
          version: 2,
          is_active: true,
          metadata: { a: [1] },
          updated_at: NOON,
        },
      ],
    })
    expect(departures(list.result, reply.json)).toEqual([])
  })

  test('of the same component many times at once gives consecutive versions and one active', async () => {
    const account = await server.account()
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, n) => account.ask(save, css('clock', `code ${n}`))),
    )
    const sorted = answers.map(({ version }) => version).sort((a, b) => a - b)
    expect(sorted).toEqual(Array.from({ length: 30 }, (_, n) => n + 1))
    const { versions } = await account.ask(history, { component_id: 'clock' })
    expect(versions.filter(({ is_active }) => is_active)).toEqual([expect.objectContaining({ version: 30 })])
    expect(versions).toHaveLength(30)
  })

  test('keeps the newest 100 versions and goes on counting', async () => {
    const account = await server.account()
    await account.ask(save, css('other'))
    for (let n = 1; n <= 102; n += 1) await account.ask(save, css('clock', `code ${n}`))
    const { versions } = await account.ask(history, { component_id: 'clock' })
    expect(versions.map(({ version }) => version)).toEqual(Array.from({ length: 100 }, (_, n) => 102 - n))
    expect(await refusal(account, activate, { component_id: 'clock', version: 2 })).toMatchObject(NOT_FOUND)
    await account.ask(activate, { component_id: 'clock', version: 3 })
    expect(await account.ask(save, css('clock'))).toMatchObject({ version: 103 })
    expect(await active(account)).toEqual({ clock: 'body {} v103', other: 'body {} v1' })
  })

  test('says which types there are', async () => {
    const { token } = await server.account()
    const body = JSON.stringify({ component_id: 'clock', component_type: 'html', code: '' })
    const headers = { 'content-type': 'application/json' }
    const path = '/api/desktop-components.php?action=save'
    const { status, json } = await server.send(path, { method: 'POST', token, headers, body })
    expect([status, json['error']]).toEqual([400, 'component_type must be css or js or widget.'])
    expect(json['details']).toEqual([{ path: 'component_type', message: 'must be css or js or widget' }])
  })

  const emoji = '🕰️'
  test.each([
    '__proto__',
    'constructor',
    'toString',
    '../x',
    '/etc/passwd',
    "'; drop table components; --",
    '%',
    '_',
    emoji,
    'Uhr für Ä',
    ' clock ',
    'x'.repeat(100),
    '😀'.repeat(100),
  ])('takes %j for a name like any other', async (component_id) => {
    const account = await server.account()
    await account.ask(save, css('bystander', 'stays'))
    const code = `code of ${component_id}`
    expect(await account.ask(save, css(component_id, code))).toEqual({ ok: true, version: 1, component_id })
    expect((await account.ask(get, { component_id })).component).toMatchObject({ component_id, code, version: 1 })
    expect((await account.ask(list, {})).components.map((one) => one.component_id).sort()).toEqual(
      ['bystander', component_id].sort(),
    )
    expect(await account.ask(save_profile, { name: component_id })).toMatchObject({ components_saved: 2 })
    expect((await account.ask(reset, { component_id })).deactivated).toBe(1)
    expect(await active(account)).toEqual({ bystander: 'stays v1' })
  })

  test.each([
    ['101 characters', 'x'.repeat(101)],
    ['101 emoji', '😀'.repeat(101)],
    ['a NUL', 'a\0b'],
    ['a control character', 'a\nb'],
    ['an escape', '\u001b[31m'],
    ['text that turns direction', 'a\u202eb'],
    ['a lone surrogate', 'a\ud800'],
    ['spaces only', '   '],
    ['a number', 5],
    ['a list', ['clock']],
  ])('refuses %s for a name', async (_, component_id) => {
    expect(await refusal(await server.account(), save, css(component_id as string))).toMatchObject(BAD)
  })

  test('takes code of exactly 102400 bytes and no more, counted in UTF-8', async () => {
    const account = await server.account()
    for (const [fits, over] of [
      ['x'.repeat(102_400), 'x'.repeat(102_401)],
      ['ä'.repeat(51_200), `${'ä'.repeat(51_200)}x`],
      ['😀'.repeat(25_600), `${'😀'.repeat(25_599)}xxxxx`],
    ] as const) {
      expect((await account.call(save, css('big', fits))).status).toBe(200)
      expect((await account.ask(get, { component_id: 'big' })).component.code).toBe(fits)
      expect(await refusal(account, save, css('big', over))).toMatchObject({ ...BAD, error: 'Code zu gross' })
    }
  })

  test('says that code is too large even when its JSON is several times larger', async () => {
    const account = await server.account()
    const before = await commitsSeenBy(server.database)
    const body = JSON.stringify(css('big', '')).replace('""', `"${'\\u00e4'.repeat(120_000)}"`)
    const headers = { 'content-type': 'application/json' }
    const reply = await server.send(PATH, {
      method: 'POST',
      query: { action: 'save' },
      headers,
      body,
      token: account.token,
    })
    expect([reply.status, reply.json['error']]).toEqual([400, 'Code zu gross'])
    expect(await commitsSeenBy(server.database)).toBe(before)
  })

  test.each(['eval(', 'Function(', 'XMLHttpRequest', 'document.cookie', 'localStorage'])(
    'refuses %j in js, and only there',
    async (pattern) => {
      const account = await server.account({ plantsCode: true })
      const code = `const x = 1; ${pattern} /* */`
      expect(await refusal(account, save, css('hook', code, { component_type: 'js' }))).toMatchObject({
        ...BAD,
        error: 'Blockierter Code',
      })
      for (const component_type of ['css', 'widget'] as const)
        expect((await account.call(save, css('hook', code, { component_type }))).status).toBe(200)
      const other = code.replace(
        pattern,
        pattern === pattern.toLowerCase() ? pattern.toUpperCase() : pattern.toLowerCase(),
      )
      expect((await account.call(save, css('hook', other, { component_type: 'js' }))).status).toBe(200)
    },
  )

  test('takes js that looks alike', async () => {
    const account = await server.account({ plantsCode: true })
    const code = 'evaluate(1); const f = function (a) {}; sessionStorage; document.title; eval; Function'
    expect((await account.call(save, css('hook', code, { component_type: 'js' }))).status).toBe(200)
  })

  test.each([
    ['a kind that does not exist', { component_type: 'html' }],
    ['no kind', { component_type: undefined }],
    ['no code', { code: undefined }],
    ['code that is a number', { code: 5 }],
    ['code with a NUL', { code: 'a\0b' }],
    ['metadata that is a list', { metadata: [] }],
    ['metadata that is a text', { metadata: '{}' }],
    ['metadata that is null', { metadata: null }],
  ])('refuses %s', async (_, wrong) => {
    expect(await refusal(await server.account(), save, { ...css('clock'), ...wrong })).toMatchObject(BAD)
  })

  test('keeps metadata as it came, of 16 KiB and 16 levels', async () => {
    const account = await server.account()
    const nested = (levels: number): object => (levels === 1 ? {} : { a: nested(levels - 1) })
    const sized = (bytes: number) => ({ text: 'x'.repeat(bytes - '{"text":""}'.length) })
    const odd = { constructor: 1, toJSON: 'x', hasOwnProperty: null, ä: ['😀', '\u0000', { b: [] }], '': 1.5e300 }
    for (const metadata of [{}, nested(16), sized(16_384), odd]) {
      await account.ask(save, css('clock', 'x', { metadata }))
      expect((await account.ask(get, { component_id: 'clock' })).component.metadata).toEqual(metadata)
      expect((await account.ask(history, { component_id: 'clock' })).versions[0]!.metadata).toEqual(metadata)
    }
    for (const metadata of [nested(17), { a: [nested(15)] }, sized(16_385), { a: 'ä'.repeat(8_190) }])
      expect(await refusal(account, save, css('clock', 'x', { metadata }))).toMatchObject(BAD)
  })

  test('may be empty of code, and says nothing of metadata that nobody gave', async () => {
    const account = await server.account()
    await account.ask(save, css('clock', ''))
    expect((await account.ask(get, { component_id: 'clock' })).component).toMatchObject({ code: '', metadata: {} })
  })

  test('over a version that is not the newest any more saves nothing, and says which is', async () => {
    const account = await withClock()
    const stale = { status: 409, code: 'conflict' }
    for (const base_version of [0, 1, 3])
      expect(await refusal(account, save, css('clock', 'three', { base_version }))).toMatchObject(stale)
    const { json } = await account.call(save, css('clock', 'three', { base_version: 1 }))
    expect(json['current']).toBe(2)
    expect(await refusal(account, save, css('new', 'one', { base_version: 1 }))).toMatchObject(stale)
    for (const base_version of [-1, 1.5, '2', null])
      expect(await refusal(account, save, css('clock', 'x', { base_version: base_version as number }))).toMatchObject(
        BAD,
      )
    expect(await account.ask(save, css('new', 'one', { base_version: 0 }))).toMatchObject({ version: 1 })
    // An older version may be in force: what counts is what would be lost sight of.
    await account.ask(activate, { component_id: 'clock', version: 1 })
    expect(await account.ask(save, css('clock', 'three', { base_version: 2 }))).toMatchObject({ version: 3 })
    const racing = await Promise.all(
      Array.from({ length: 10 }, (_, n) => account.call(save, css('clock', `code ${n}`, { base_version: 3 }))),
    )
    expect(racing.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 9 }, () => 409)])
  })

  test('holds 200 components of one account', async () => {
    const account = await server.account()
    await Promise.all(Array.from({ length: 199 }, (_, n) => account.ask(save, css(`component ${n}`))))
    await account.ask(reset, { component_id: 'component 0' })
    expect((await account.call(save, css('the last'))).status).toBe(200)
    expect(await refusal(account, save, css('one more'))).toMatchObject(FULL)
    expect((await account.call(save, css('component 0'))).status).toBe(200)
    expect((await (await server.account()).call(save, css('one more'))).status).toBe(200)
  })
})

describe('component_id', () => {
  const needing = Object.values(actions).filter(({ params }) => 'component_id' in params.properties)

  test('is asked for by get, save, history, activate and reset', () => {
    expect(needing.map(({ name }) => name)).toEqual(['get', 'save', 'history', 'activate', 'reset'])
  })

  test.each(needing.map((action) => [action.name, action] as const))('is missed by %s in German', async (_, action) => {
    const account = await withClock()
    const { component_id: _left, ...rest } = action.example as { component_id: string }
    const answer = { ...BAD, error: 'component_id erforderlich' }
    expect(await refusal(account, action, rest)).toMatchObject(answer)
    expect(await refusal(account, action, { ...rest, component_id: '' })).toMatchObject(answer)
    expect(await refusal(account, action, {})).toMatchObject(answer)
  })

  test('that nobody has is not found', async () => {
    const account = await withClock()
    for (const component_id of ['clocks', 'Clock', 'clock ', '%', '__proto__', 'toString']) {
      for (const action of [get, history, reset])
        expect(await refusal(account, action, { component_id })).toMatchObject(NOT_FOUND)
      expect(await refusal(account, activate, { component_id, version: 1 })).toMatchObject(NOT_FOUND)
    }
  })
})

describe('versions', () => {
  test('are listed newest first, each with its time and metadata', async () => {
    const account = await server.account()
    await account.ask(save, css('clock', 'one'))
    server.clock.pass(61_500)
    await account.ask(save, css('clock', 'two', { metadata: { n: 2 } }))
    const reply = await account.call(history, { component_id: 'clock' })
    expect(departures(history.result, reply.json)).toEqual([])
    const [newer, older] = reply.json['versions'] as { updated_at: string }[]
    expect([newer, older]).toEqual([
      { version: 2, is_active: true, updated_at: newer!.updated_at, metadata: { n: 2 } },
      { version: 1, is_active: false, updated_at: older!.updated_at, metadata: {} },
    ])
    const seconds = (stamp: string) => Date.parse(`${stamp.replace(' ', 'T')}Z`) / 1_000
    expect(seconds(newer!.updated_at) - seconds(older!.updated_at)).toBeGreaterThanOrEqual(61)
  })

  test('can be gone back to and forth again, with one active at a time', async () => {
    const account = await withClock()
    expect((await account.call(activate, { component_id: 'clock', version: 1 })).json).toEqual({
      ok: true,
      component_id: 'clock',
      version: 1,
    })
    expect((await account.ask(get, { component_id: 'clock' })).component).toMatchObject({
      version: 1,
      code: 'one',
      component_type: 'css',
      is_active: true,
    })
    await account.ask(activate, { component_id: 'clock', version: 1 })
    expect(await active(account)).toEqual({ clock: 'one v1' })
    await account.ask(activate, { component_id: 'clock', version: 2 })
    expect(await active(account)).toEqual({ clock: 'two v2' })
    await account.ask(activate, { component_id: 'clock', version: 1 })
    expect(await account.ask(save, css('clock', 'three'))).toMatchObject({ version: 3 })
    const { versions } = await account.ask(history, { component_id: 'clock' })
    expect(versions.map(({ version, is_active }) => [version, is_active])).toEqual([
      [3, true],
      [2, false],
      [1, false],
    ])
  })

  test('are read one by one, in force or not', async () => {
    const account = await withClock()
    await account.ask(reset, { component_id: 'clock' })
    const reply = await account.call(get, { component_id: 'clock', version: 1 })
    expect(departures(get.result, reply.json)).toEqual([])
    expect(reply.json['component']).toMatchObject({ code: 'one', version: 1, is_active: false, component_type: 'css' })
    expect(await refusal(account, get, { component_id: 'clock', version: 3 })).toMatchObject(NOT_FOUND)
    expect(await refusal(account, get, { component_id: 'clocks', version: 1 })).toMatchObject(NOT_FOUND)
    expect(await refusal(account, get, { component_id: 'clock', version: 0 })).toMatchObject(BAD)
  })

  test('that do not exist change nothing', async () => {
    const account = await withClock()
    for (const version of [3, 99, Number.MAX_SAFE_INTEGER])
      expect(await refusal(account, activate, { component_id: 'clock', version })).toMatchObject(NOT_FOUND)
    for (const version of [0, -1, 1.5, '1', null, 2 ** 53])
      expect(await refusal(account, activate, { component_id: 'clock', version })).toMatchObject(BAD)
    expect(await active(account)).toEqual({ clock: 'two v2' })
  })

  test('are all inactive after a reset, and one can be gone back to', async () => {
    const account = await withClock()
    await account.ask(save, css('theme', 'dark'))
    expect((await account.call(reset, { component_id: 'clock' })).json).toEqual({
      ok: true,
      component_id: 'clock',
      deactivated: 1,
    })
    expect(await active(account)).toEqual({ theme: 'dark v1' })
    expect(await refusal(account, get, { component_id: 'clock' })).toMatchObject(NOT_FOUND)
    const { versions } = await account.ask(history, { component_id: 'clock' })
    expect(versions.map(({ version, is_active }) => [version, is_active])).toEqual([
      [2, false],
      [1, false],
    ])
    expect((await account.ask(reset, { component_id: 'clock' })).deactivated).toBe(0)
    await account.ask(activate, { component_id: 'clock', version: 2 })
    expect(await active(account)).toEqual({ clock: 'two v2', theme: 'dark v1' })
  })
})

describe('the overview', () => {
  test('names every component once, with what is in force', async () => {
    const account = await withClock()
    await account.ask(save, css('accent'))
    await account.ask(reset, { component_id: 'accent' })
    await account.ask(activate, { component_id: 'clock', version: 1 })
    const reply = await account.call(overview)
    expect(departures(overview.result, reply.json)).toEqual([])
    const updated_at = expect.stringMatching(/^2026-11-21 12:\d\d:\d\d$/) as string
    expect(reply.json['components']).toEqual([
      { component_id: 'accent', component_type: 'css', newest: 1, active: null, versions: 1, updated_at },
      { component_id: 'clock', component_type: 'widget', newest: 2, active: 1, versions: 2, updated_at },
    ])
    expect((await (await server.account()).ask(overview, {})).components).toEqual([])
  })

  test('after all were reset has nothing in force, and nobody else lost anything', async () => {
    const account = await withClock()
    const other = await withClock()
    await account.ask(save, css('accent'))
    expect((await account.call(reset_all)).json).toEqual({ ok: true, deactivated: 2 })
    expect((await account.ask(overview, {})).components.map((one) => one.active)).toEqual([null, null])
    expect(await active(account)).toEqual({})
    expect((await account.ask(reset_all, {})).deactivated).toBe(0)
    expect(await active(other)).toEqual({ clock: 'two v2' })
  })
})

describe('profiles', () => {
  test('keep what is active, with its code, and are listed by name', async () => {
    const account = await withClock()
    await account.ask(save, css('theme', 'dark'))
    await account.ask(save, css('old'))
    await account.ask(reset, { component_id: 'old' })
    const { profile_id } = await account.ask(save_profile, { name: 'Evening' })
    const reply = await account.call(save_profile, { name: 'Day' })
    expect(reply.json).toEqual({ ok: true, profile_id: expect.any(Number) as number, components_saved: 2 })
    const listed = await account.call(profiles)
    expect(departures(profiles.result, listed.json)).toEqual([])
    const components = ['clock', 'theme']
    const created_at = expect.stringMatching(/^2026-11-21 12:\d\d:\d\d$/) as string
    expect(listed.json['profiles']).toEqual([
      { id: reply.json['profile_id'], name: 'Day', is_default: false, components, created_at },
      { id: profile_id, name: 'Evening', is_default: false, components, created_at },
    ])
  })

  test('restore components as new versions, whatever became of them, and leave others alone', async () => {
    const account = await withClock()
    await account.ask(save, css('theme', 'dark', { metadata: { hue: 7 } }))
    const { profile_id } = await account.ask(save_profile, { name: 'Evening' })
    await account.ask(save, css('theme', 'light'))
    await account.ask(reset, { component_id: 'clock' })
    await account.ask(save, css('weather', 'rain'))
    expect((await account.call(load_profile, { profile_id })).json).toEqual({ ok: true, components_loaded: 2 })
    expect(await active(account)).toEqual({ clock: 'two v3', theme: 'dark v3', weather: 'rain v1' })
    const { component } = await account.ask(get, { component_id: 'theme' })
    expect([component.metadata, component.component_type]).toEqual([{ hue: 7 }, 'css'])
    expect((await account.ask(get, { component_id: 'clock' })).component.component_type).toBe('widget')

    await account.ask(load_profile, { profile_id, exclusive: false })
    expect(await active(account)).toEqual({ clock: 'two v4', theme: 'dark v4', weather: 'rain v1' })
    await account.ask(load_profile, { profile_id, exclusive: true })
    expect(await active(account)).toEqual({ clock: 'two v5', theme: 'dark v5' })
    expect((await account.ask(history, { component_id: 'weather' })).versions).toHaveLength(1)
  })

  test('restore versions that are long forgotten', async () => {
    const account = await server.account()
    await account.ask(save, css('clock', 'the first'))
    const { profile_id } = await account.ask(save_profile, { name: 'Old' })
    for (let n = 0; n < 100; n += 1) await account.ask(save, css('clock', `code ${n}`))
    expect(await refusal(account, activate, { component_id: 'clock', version: 1 })).toMatchObject(NOT_FOUND)
    await account.ask(load_profile, { profile_id })
    expect(await active(account)).toEqual({ clock: 'the first v102' })
  })

  test('may hold nothing; exclusively loaded that is the desktop as it came', async () => {
    const account = await server.account()
    const { profile_id, components_saved } = await account.ask(save_profile, { name: 'Nothing' })
    expect(components_saved).toBe(0)
    expect((await account.ask(profiles, {})).profiles).toEqual([expect.objectContaining({ components: [] })])
    await account.ask(save, css('clock', 'one'))
    expect((await account.ask(load_profile, { profile_id })).components_loaded).toBe(0)
    expect(await active(account)).toEqual({ clock: 'one v1' })
    expect((await account.ask(load_profile, { profile_id, exclusive: true })).components_loaded).toBe(0)
    expect(await active(account)).toEqual({})
  })

  test('of the same name stand side by side', async () => {
    const account = await withClock()
    const one = await account.ask(save_profile, { name: 'Evening' })
    await account.ask(save, css('clock', 'three'))
    const two = await account.ask(save_profile, { name: 'Evening' })
    expect(one.profile_id).not.toBe(two.profile_id)
    await account.ask(load_profile, { profile_id: one.profile_id })
    expect(await active(account)).toEqual({ clock: 'two v4' })
  })

  test('are deleted once, and the components stay', async () => {
    const account = await withClock()
    const { profile_id } = await account.ask(save_profile, { name: 'Evening' })
    const kept = await account.ask(save_profile, { name: 'Day' })
    expect((await account.call(delete_profile, { profile_id })).json).toEqual({ ok: true })
    expect(await active(account)).toEqual({ clock: 'two v2' })
    expect((await account.ask(profiles, {})).profiles.map(({ id }) => id)).toEqual([kept.profile_id])
    expect(await refusal(account, delete_profile, { profile_id })).toMatchObject(NOT_FOUND)
    expect(await refusal(account, load_profile, { profile_id })).toMatchObject(NOT_FOUND)
    const rows = await server.database.read.q
      .selectFrom('profile_components')
      .select('component_id')
      .where('profile_id', '=', profile_id)
      .execute()
    expect(rows).toEqual([])
  })

  test.each(['', '   ', 'x'.repeat(101), 'a\nb', 'a\0', 5, null])('are not called %j', async (name) => {
    const account = await withClock()
    expect(await refusal(account, save_profile, { name })).toMatchObject(BAD)
    const { profile_id } = await account.ask(save_profile, { name: 'Evening' })
    expect(await refusal(account, rename_profile, { profile_id, name })).toMatchObject(BAD)
  })

  test('are called otherwise and stay what they are', async () => {
    const account = await withClock()
    const { profile_id } = await account.ask(save_profile, { name: 'Evening' })
    const [before] = (await account.ask(profiles, {})).profiles
    expect((await account.call(rename_profile, { profile_id, name: '<b>Night</b>' })).json).toEqual({ ok: true })
    expect((await account.ask(profiles, {})).profiles).toEqual([{ ...before, name: '<b>Night</b>' }])
    expect(await refusal(account, rename_profile, { profile_id: 999_999, name: 'x' })).toMatchObject(NOT_FOUND)
  })

  test('number at most 50', async () => {
    const account = await withClock()
    for (let n = 0; n < 50; n += 1) await account.ask(save_profile, { name: `Profile ${n}` })
    expect(await refusal(account, save_profile, { name: 'One more' })).toMatchObject(FULL)
  })
})

test('nobody sees, changes or loads what is somebody else’s', async () => {
  const ada = await withClock()
  const { profile_id } = await ada.ask(save_profile, { name: 'Evening' })
  const grace = await server.account()
  const admin = await server.account({ role: 'admin' })
  for (const other of [grace, admin]) {
    expect((await other.ask(list, {})).components).toEqual([])
    expect((await other.ask(profiles, {})).profiles).toEqual([])
    expect(await refusal(other, get, { component_id: 'clock' })).toMatchObject(NOT_FOUND)
    expect(await refusal(other, history, { component_id: 'clock' })).toMatchObject(NOT_FOUND)
    expect(await refusal(other, activate, { component_id: 'clock', version: 1 })).toMatchObject(NOT_FOUND)
    expect(await refusal(other, reset, { component_id: 'clock' })).toMatchObject(NOT_FOUND)
    expect(await refusal(other, load_profile, { profile_id })).toMatchObject(NOT_FOUND)
    expect(await refusal(other, rename_profile, { profile_id, name: 'Mine' })).toMatchObject(NOT_FOUND)
    expect(await refusal(other, delete_profile, { profile_id })).toMatchObject(NOT_FOUND)
    expect(await other.ask(save, css('clock', 'mine'))).toMatchObject({ version: 1 })
  }
  expect(await active(ada)).toEqual({ clock: 'two v2' })
  expect((await ada.ask(profiles, {})).profiles).toHaveLength(1)
})

describe('the action', () => {
  const headers = { 'content-type': 'application/json' }
  const post = (account: Account, query: object, body: object) =>
    server.send(PATH, {
      method: 'POST',
      token: account.token,
      query: query as Record<string, string>,
      headers,
      body: JSON.stringify(body),
    })

  test.each(['the query', 'the body', 'both'])('of a POST may stand in %s', async (where) => {
    const account = await server.account()
    const send = (action: string, body: object) =>
      post(account, where === 'the body' ? {} : { action }, where === 'the query' ? body : { action, ...body })
    expect((await send('save', css('clock', 'one'))).json).toMatchObject({ ok: true, version: 1 })
    expect((await send('save', css('clock', 'two'))).json).toMatchObject({ ok: true, version: 2 })
    expect((await send('activate', { component_id: 'clock', version: 1 })).json).toMatchObject({ ok: true })
    const { json } = await send('save_profile', { name: 'Evening' })
    expect((await send('reset', { component_id: 'clock' })).json).toMatchObject({ deactivated: 1 })
    const { profile_id } = json as { profile_id: number }
    expect((await send('load_profile', { profile_id })).json).toEqual({ ok: true, components_loaded: 1 })
    expect((await send('delete_profile', { profile_id })).json).toEqual({ ok: true })
    expect(await active(account)).toEqual({ clock: 'one v3' })
    expect((await send('save', { component_type: 'css', code: '' })).json['error']).toBe('component_id erforderlich')
    const large = await send('save', css('clock', 'x'.repeat(102_401)))
    expect([large.status, large.json['error']]).toEqual([400, 'Code zu gross'])
  })

  test('is the one of the query where both name one', async () => {
    const account = await withClock()
    const { json } = await post(account, { action: 'reset' }, { action: 'save', ...css('clock') })
    expect(json).toEqual({ ok: true, component_id: 'clock', deactivated: 1 })
  })

  test('has one method', async () => {
    const account = await withClock()
    const before = await commitsSeenBy(server.database)
    const wrong = [
      await server.send(PATH, { query: { action: 'save', ...css('clock') }, token: account.token }),
      await post(account, {}, { action: 'list' }),
      await post(account, { action: 'get' }, { component_id: 'clock' }),
    ]
    for (const { status, json } of wrong) expect([status, json['error']]).toEqual([405, 'Method not allowed'])
    expect((await post(account, {}, {})).json['code']).toBe('unknown_action')
    expect(await commitsSeenBy(server.database)).toBe(before)
  })
})

describe('in a browser session', () => {
  async function inSession() {
    const { id } = await server.account()
    const { sessions } = server.local.domain.accounts
    const cookie = await server.database.write('instance', (tx) =>
      sessions.begin(tx, id, { ip: '127.0.0.1', userAgent: 'test' }),
    )
    const headers = { cookie: `PHPSESSID=${cookie}`, 'content-type': 'application/json' }
    const send = (body: object, more: Record<string, string> = {}) =>
      server.send(PATH, { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify(body) })
    const look = () => server.send(PATH, { headers, query: { action: 'list' } })
    return { send, look, token: sessions.csrfToken(cookie) }
  }

  test('a component is saved with the CSRF token, in the header or beside it', async () => {
    const { send, look, token } = await inSession()
    expect((await send({ action: 'save', ...css('clock') }, { 'x-csrf-token': token })).status).toBe(200)
    expect((await send({ action: 'save', csrf_token: token, ...css('clock') })).json).toMatchObject({ version: 2 })
    expect((await look()).json['components']).toHaveLength(1)
  })

  test('nothing is saved without it', async () => {
    const { send, look } = await inSession()
    const outcomes = [
      await send({ action: 'save', ...css('clock') }),
      await send({ action: 'save', ...css('clock') }, { 'x-csrf-token': 'x' }),
      await send({ action: 'save', csrf_token: 'x', ...css('clock') }),
    ]
    for (const { status, json } of outcomes) expect([status, json['code']]).toEqual([403, 'csrf'])
    expect((await look()).json['components']).toEqual([])
  })
})

test('saving is limited to 60 times a minute, and so is each other change', async () => {
  const limited = await serverOfTest({ limits: true })
  const { call } = await limited.account()
  for (let n = 0; n < 60; n += 1) expect((await call(save, css('clock'))).status).toBe(200)
  const over = await call(save, css('clock'))
  expect([over.status, over.json['code']]).toEqual([429, 'rate_limited'])
  expect(Number(over.headers.get('retry-after'))).toBeGreaterThan(0)
  expect((await call(list)).status).toBe(200)
})

test('the examples of the documentation work one after another on a new service', async () => {
  const fresh = await serverOfTest()
  const { call } = await fresh.account()
  const saved = [save, list, overview, get, history, activate, save_profile, rename_profile, load_profile]
  const order = [...saved, profiles, reset, reset_all, delete_profile]
  for (const action of order) {
    const { status, json } = await call(action, action.example)
    expect([action.name, status, departures(action.result, json)]).toEqual([action.name, 200, []])
  }
})

describe('a device token', () => {
  const FORBIDDEN = { status: 403, code: 'forbidden', error: expect.stringContaining('--allow code') as string }
  const script = css('hook', 'window.__svcHooks', { component_type: 'js' })

  test('puts no script in force, neither by saving nor by activating, a profile or an undo', async () => {
    const account = await server.account()
    const desk = await clientBy(server, account, 'a session')
    expect(await refusal(account, save, script)).toMatchObject(FORBIDDEN)
    // What a script may not contain is told first, to anybody.
    expect(await refusal(account, save, { ...script, code: 'eval(' })).toMatchObject(BAD)

    await desk.ask(save, script)
    const { profile_id } = await account.ask(save_profile, { name: 'Scripts' })
    await account.ask(save, css('hook'))
    expect(await refusal(account, activate, { component_id: 'hook', version: 1 })).toMatchObject(FORBIDDEN)
    expect(await refusal(account, load_profile, { profile_id })).toMatchObject(FORBIDDEN)
    expect(await refusal(account, load_profile, { profile_id, exclusive: true })).toMatchObject(FORBIDDEN)
    expect(await active(account)).toEqual({ hook: 'body {} v2' })

    // Styles and widgets it does, and scripts it takes out of force.
    await account.ask(activate, { component_id: 'hook', version: 2 })
    await desk.ask(activate, { component_id: 'hook', version: 1 })
    expect(await desk.ask(load_profile, { profile_id })).toMatchObject({ components_loaded: 1 })
    await account.ask(reset, { component_id: 'hook' })
    expect(await active(account)).toEqual({})
  })

  test('takes no style of the assistant back where a script was in force before', async () => {
    const { server: own, model, ada } = await stage()
    const desk = await clientBy(own, ada, 'a session')
    await desk.ask(save, script)
    model.will({ calls: [{ name: 'save_component', arguments: css('hook') }] }, { text: 'Done.' })
    const { change_set_id } = await askFor(ada, { message: 'Make it plain' })
    const { undo } = assistant.actions
    const refused = await ada.ask(undo, { change_set_id: change_set_id! })
    expect(refused.items).toMatchObject([
      { status: 'refused', reason: expect.stringContaining('--allow code') as string },
    ])
    expect(await desk.ask(undo, { change_set_id: change_set_id! })).toMatchObject({ items: [{ status: 'undone' }] })
  })

  test('makes no app of the system', async () => {
    const { create } = apps.actions
    const root = await server.account({ role: 'admin' })
    const app = { name: 'Weather', slug: 'planted', is_system: true }
    const before = await commitsSeenBy(server.database)
    const refused = await root.call(create, app)
    expect([refused.status, refused.json['error']]).toEqual([403, FORBIDDEN.error])
    expect(await commitsSeenBy(server.database)).toBe(before)
    expect((await (await clientBy(server, root, 'a session')).call(create, app)).status).toBe(201)
  })

  test('may all of that when it was minted with --allow code, and says so where it is refused', async () => {
    const own = await serverOfTest()
    const ada = await own.account({ username: 'ada' })
    const folder = await folderOfTest()
    await writeFile(join(folder, 'hook.js'), script.code)
    const saved = (token: string) =>
      runCommandWith(
        { SVC_URL: own.url, SVC_TOKEN: token, HOME: folder },
        'component',
        'save',
        'hook',
        join(folder, 'hook.js'),
      )
    const refused = await saved(ada.token)
    expect([refused.code, refused.stderr]).toEqual([4, expect.stringContaining('svc token mint --allow code')])

    const minted = await runCommandWith(
      { SVC_DATA_DIR: own.dataDir, ...own.env },
      'token',
      'mint',
      '--user',
      'ada',
      '--allow',
      'code',
    )
    expect(minted).toMatchObject({ code: 0, stderr: '' })
    expect(await saved(minted.stdout.trim())).toMatchObject({ code: 0 })
    expect(await active(ada)).toEqual({ hook: `${script.code} v1` })
  })
})
