import { describe, expect, onTestFinished, test } from 'vitest'
import { DAY } from '../../../src/base/clock.ts'
import { isFault } from '../../../src/contract/errors.ts'
import { INLINE_MAX } from '../../../src/storage/contents/contents.ts'
import { openLocal } from '../../../src/wiring/local-domain.ts'
import { appPackage } from '../../support/app-package.ts'
import { makeClock } from '../../support/clock.ts'
import { blobsOf, bytesOf } from '../../support/contents.ts'
import { folderOfTest } from '../../support/server.ts'
import { commitsSeenBy } from '../../support/state.ts'
import { addUser, openForTest } from '../../support/storage.ts'

async function world(env: Record<string, string> = {}) {
  const dataDir = await folderOfTest()
  const clock = makeClock()
  const open = async () => {
    const local = await openLocal({ dataDir, env, clock })
    onTestFinished(() => local.close())
    return local
  }
  const local = await open()
  const { registry, releases } = local.domain.desktop
  return {
    open,
    dataDir,
    local,
    clock,
    registry,
    releases,
    database: openForTest(`${dataDir}/svc.db`),
    versions: async (slug = 'clock') =>
      (await releases.list(slug)).map(({ version, current }) => (current ? `${version}*` : version)),
    update: (version: string, force = false) => releases.update('clock', release(version), force),
  }
}

const release = (version: string) => appPackage({ 'index.html': version }, { version })

const outcome = (attempt: Promise<unknown>) =>
  attempt.then(
    () => 'ok',
    (error: unknown) => {
      if (!isFault(error)) throw error
      return error.code
    },
  )

describe('the releases of an app', () => {
  test('are the last three, and one of them is in force', async () => {
    const { releases, versions, update } = await world()
    await releases.install(release('1.0.0'))
    for (const version of ['1.1.0', '1.2.0', '2.0.0']) await update(version)
    expect(await versions()).toEqual(['2.0.0*', '1.2.0', '1.1.0'])
    await releases.rollback('clock')
    await releases.rollback('clock')
    expect(await versions()).toEqual(['2.0.0', '1.2.0', '1.1.0*'])
    expect(await outcome(releases.rollback('clock'))).toBe('not_found')
    await releases.rollback('clock', '2.0.0')
    expect(await versions()).toEqual(['2.0.0*', '1.2.0', '1.1.0'])
    expect(await outcome(releases.rollback('clock', '2.0.0'))).toBe('not_found')
  })

  test('do not have what was rolled back any more, once there is a newer one', async () => {
    const { releases, versions, update } = await world()
    await releases.install(release('1.0.0'))
    await update('2.0.0')
    await releases.rollback('clock')
    await update('2.0.1')
    expect(await versions()).toEqual(['2.0.1*', '1.0.0'])
    await releases.rollback('clock')
    expect(await versions()).toEqual(['2.0.1', '1.0.0*'])
  })

  test('go only forward unless they are told otherwise, and refusing changes nothing', async () => {
    const { releases, versions, update, database } = await world()
    await releases.install(release('1.0.0'))
    await update('2.0.0')
    const other = appPackage({ 'index.html': 'other' }, { version: '2.0.0' })
    const before = await commitsSeenBy(database)
    expect(await outcome(update('1.9.0'))).toBe('conflict')
    expect(await outcome(update('2.0.0-rc.1'))).toBe('conflict')
    expect(await outcome(releases.update('clock', other, false))).toBe('conflict')
    expect(await outcome(releases.update('nothing', release('3.0.0'), true))).toBe('bad_request')
    expect(await outcome(releases.install(release('3.0.0')))).toBe('exists')
    expect(await outcome(releases.rollback('notes'))).toBe('conflict')
    expect(await outcome(releases.rollback('nothing'))).toBe('not_found')
    expect((await update('2.0.0')).changed).toBe(false)
    expect(await commitsSeenBy(database)).toBe(before)
    expect((await releases.update('clock', other, true)).before).toBe('2.0.0')
    expect((await update('1.9.0', true)).before).toBe('2.0.0')
    expect(await versions()).toEqual(['1.9.0*', '2.0.0', '2.0.0'])
  })

  test('come one after another, also from two processes at once', async () => {
    const { open, releases, versions, update } = await world()
    await releases.install(release('1.0.0'))
    const elsewhere = (await open()).domain.desktop.releases
    const outcomes = await Promise.all(
      ['2.0.0', '2.1.0', '2.2.0'].flatMap((version) => [
        outcome(update(version)),
        outcome(elsewhere.update('clock', release(version), false)),
      ]),
    )
    expect(outcomes.slice(-2)).toEqual(['ok', 'ok'])
    expect(outcomes.filter((code) => code !== 'ok' && code !== 'conflict')).toEqual([])
    const left = await versions()
    expect(left.filter((version) => version.endsWith('*'))).toEqual(['2.2.0*'])
    expect(left.length).toBeLessThanOrEqual(3)
  })

  test('an app that is installed twice at once is one app', async () => {
    const { open, releases, versions, registry } = await world()
    const elsewhere = (await open()).domain.desktop.releases
    const pack = release('1.0.0')
    const both = await Promise.all([releases.install(pack), elsewhere.install(pack), releases.install(pack)])
    expect(both.map(({ changed }) => changed).sort()).toEqual([false, false, true])
    expect(await versions()).toEqual(['1.0.0*'])
    expect((await registry.list()).filter(({ slug }) => slug === 'clock')).toHaveLength(1)
  })

  test('keep their contents from the collector as long as they are kept', async () => {
    const { releases, registry, local, dataDir, database } = await world()
    const large = bytesOf(INLINE_MAX + 1)
    await releases.install(appPackage({ 'large.bin': large }))
    await releases.update('clock', release('2.0.0'), false)
    const age = () =>
      database.write('instance', (tx) =>
        tx.q
          .updateTable('contents')
          .set({ touched_at: Date.now() - 9 * DAY })
          .execute(),
      )
    await age()
    // The collector of a database without accounts removes nothing.
    await addUser(database, 'ada')
    await local.domain.instance.upkeep()
    await releases.rollback('clock')
    const file = (await releases.file('clock', 'large.bin'))!
    expect(file.size).toBe(large.length)
    expect(await blobsOf(dataDir)).toEqual([file.sha256])
    await registry.remove('clock', true)
    await age()
    expect(await local.domain.instance.upkeep()).toMatchObject({ contents: 5 })
  })
})

describe('which apps are disabled', () => {
  test('is changed by several at once without losing any', async () => {
    const { open, registry } = await world()
    const elsewhere = (await open()).domain.desktop.registry
    const slugs = ['chat', 'notes', 'docs', 'files', 'tasks', 'finance', 'places', 'admin']
    await Promise.all(slugs.map((slug, at) => (at % 2 ? registry : elsewhere).disable(slug)))
    const disabled = async () => (await registry.list()).flatMap(({ slug, disabled: off }) => (off ? [slug] : []))
    expect(await disabled()).toEqual([...slugs].sort())
    await Promise.all(slugs.slice(1).map((slug, at) => (at % 2 ? registry : elsewhere).enable(slug)))
    expect(await disabled()).toEqual(['chat'])
  })

  test('may be all of them', async () => {
    const { registry } = await world()
    for (const { slug } of await registry.list()) await registry.disable(slug)
    expect((await registry.list()).every(({ disabled }) => disabled)).toBe(true)
  })

  test('is not changed here when it is set elsewhere', async () => {
    const { registry, database } = await world({ SVC_DISABLED_APPS: 'chat' })
    const before = await commitsSeenBy(database)
    const refusal = { code: 'conflict', message: expect.stringContaining('SVC_DISABLED_APPS') as string }
    await expect(registry.enable('chat')).rejects.toMatchObject(refusal)
    await expect(registry.disable('notes')).rejects.toMatchObject(refusal)
    expect(await commitsSeenBy(database)).toBe(before)
    expect((await registry.find('chat')).disabled).toBe(true)
  })

  test('can be forgotten of an app that is gone', async () => {
    const { registry, releases } = await world()
    await releases.install(release('1.0.0'))
    await registry.disable('clock')
    await registry.remove('clock', false)
    expect(await outcome(registry.disable('clock'))).toBe('not_found')
    expect(await registry.enable('clock')).toBe(true)
    expect(await outcome(registry.enable('clock'))).toBe('not_found')
  })
})

test('what an administrator removes of a user’s app is said in the log', async () => {
  const { local, registry } = await world()
  const { accounts, desktop, instance } = local.domain
  const ada = await accounts.create({ username: 'ada', password: 'analytical engine' })
  const from = { ip: '127.0.0.1', userAgent: 'test' }
  await desktop.apps.createCustom(ada.id, { name: 'Mine', slug: 'mine' }, from)
  expect(await registry.find('mine')).toMatchObject({ source: 'custom', owner: 'ada', version: null })
  await registry.change('mine', { name: 'Hers' })
  await registry.remove('mine', false)
  const [removed, changed] = await instance.audit.list({ limit: 2 })
  expect([removed?.kind, JSON.parse(removed?.detail ?? '')]).toEqual([
    'app.removed',
    { slug: 'mine', source: 'custom', version: null, purge: false },
  ])
  expect([changed?.kind, JSON.parse(changed?.detail ?? '')]).toEqual([
    'app.changed',
    { slug: 'mine', fields: ['name'] },
  ])
})
