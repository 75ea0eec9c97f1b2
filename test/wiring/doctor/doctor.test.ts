import { chmod, chown, mkdir, readdir, realpath, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { DAY, HOUR, iso } from '../../../src/base/clock.ts'
import { backupTarget } from '../../../src/wiring/backups/backup-locations.ts'
import { examine, readiness, type Finding } from '../../../src/wiring/doctor/doctor.ts'
import { openLocal, type Local, type LocalOptions } from '../../../src/wiring/local-domain.ts'
import { noPassphrases } from '../../support/backups.ts'
import { makeClock } from '../../support/clock.ts'
import { folderOfTest, serverOfTest } from '../../support/server.ts'

const PASSWORD = 'analytical engine'

async function opened(options: Omit<LocalOptions, 'dataDir'> = {}): Promise<Local> {
  const dataDir = join(await folderOfTest(), 'data')
  const local = await openLocal({ dataDir, env: {}, ...options })
  onTestFinished(() => local.close())
  return local
}

async function finding(local: Local, id: string): Promise<Finding> {
  const found = (await examine(local)).find((one) => one.id === id)
  if (!found) throw new Error(`There is no check ${id}.`)
  return found
}

const healthOf = async (local: Local, id: string) => (await finding(local, id)).health

test('a new installation has nothing wrong but that nobody can sign in and nothing is backed up', async () => {
  const local = await opened()
  const findings = await examine(local)
  expect(findings.filter(({ health }) => health !== 'ok').map(({ id }) => id)).toEqual(['administrator', 'backup-age'])
  await local.domain.accounts.create({ username: 'ada', password: PASSWORD, role: 'admin' })
  expect(await healthOf(local, 'administrator')).toBe('ok')
})

describe('files', () => {
  test('that others can read are found, also in the folder of keys, and mended', async () => {
    const local = await opened()
    const key = join(local.directory.path, 'keys', 'secret.key')
    await chmod(key, 0o644)
    const found = await finding(local, 'file-modes')
    expect(found).toMatchObject({ health: 'failure', remedy: `chmod go= ${key}` })
    await found.fix!()
    expect((await stat(key)).mode & 0o777).toBe(0o600)
    expect(await healthOf(local, 'file-modes')).toBe('ok')
    // The mode of a link is not that of what it leads to.
    const aside = await folderOfTest()
    for (const target of [aside, join(aside, 'gone')])
      await symlink(target, join(local.directory.path, `link${target.length}`))
    expect(await healthOf(local, 'file-modes')).toBe('ok')
    await chmod(aside, 0o755)
    expect(await healthOf(local, 'file-modes')).toBe('failure')
  })

  test('that belong to somebody else are found', async (context) => {
    if (process.getuid?.() !== 0) return context.skip('only root can give files away')
    const local = await opened()
    await writeFile(local.directory.config, '{}')
    await chown(local.directory.config, 65_534, 65_534)
    const found = await finding(local, 'file-owner')
    expect(found).toMatchObject({ health: 'failure', remedy: `chown -R 0 ${local.directory.path}` })
    expect(found.found).toContain('config.json')
  })

  test('of the blob store that nothing points to are found and removed, and young ones left alone', async () => {
    const local = await opened()
    await local.domain.accounts.create({ username: 'ada', password: PASSWORD, role: 'admin' })
    await local.domain.instance.checkContents()
    const folder = join(local.directory.blobs, 'ab', 'cd')
    await mkdir(folder, { recursive: true })
    const names = ['0', '1'].map((digit) => `abcd${digit.repeat(60)}`)
    for (const name of names) await writeFile(join(folder, name), 'left behind')
    const old = new Date(Date.now() - 2 * DAY)
    await utimes(join(folder, names[0]!), old, old)
    const found = await finding(local, 'orphaned-blobs')
    expect(found).toMatchObject({ health: 'warning', found: '1 blobs (11 B) that no file refers to' })
    await found.fix!()
    expect(await readdir(folder)).toEqual([names[1]])
    expect(await healthOf(local, 'orphaned-blobs')).toBe('ok')
  })
})

describe('the place of the data directory', () => {
  const locationOf = async (dataDir: string, uid?: number): Promise<Finding> => {
    const local = await openLocal({ dataDir, env: {} })
    onTestFinished(() => local.close())
    if (uid !== undefined) await chown(dirname(dataDir), uid, uid)
    return finding(local, 'data-location')
  }

  test('is told when it is a link, or is reached by one, with the folder to use instead', async () => {
    const folder = await realpath(await folderOfTest())
    const real = join(folder, 'real', 'data')
    await mkdir(real, { recursive: true, mode: 0o700 })
    await symlink(real, join(folder, 'data'))
    await symlink(join(folder, 'real'), join(folder, 'disk'))
    for (const path of [join(folder, 'data'), join(folder, 'disk', 'data')])
      expect(await locationOf(path)).toMatchObject({
        health: 'warning',
        found: expect.stringContaining(`${path} leads to ${real}`),
        remedy: expect.stringContaining(`--data-dir ${real}`),
      })
    expect(await locationOf(real)).toMatchObject({ health: 'ok' })
  })

  test.each([
    ['everybody', 0o777, 'warning'],
    ['a group', 0o770, 'warning'],
    ['everybody, who cannot rename what belongs to others,', 0o1777, 'ok'],
    ['its owner', 0o755, 'ok'],
  ])('is told when a folder on its way can be written by %s', async (_, mode, health) => {
    const open = join(await folderOfTest(), 'open')
    const dataDir = join(open, 'mine', 'data')
    await mkdir(dataDir, { recursive: true, mode: 0o700 })
    await chmod(open, mode)
    const found = await locationOf(dataDir)
    expect(found.health).toBe(health)
    if (health === 'warning') expect(found.remedy).toBe(`chmod go-w ${open}`)
  })

  test('is told when a folder on its way belongs to another user', async (context) => {
    if (process.getuid?.() !== 0) return context.skip('only root can give folders away')
    const parent = join(await folderOfTest(), 'theirs')
    const dataDir = join(parent, 'data')
    await mkdir(dataDir, { recursive: true, mode: 0o700 })
    expect(await locationOf(dataDir, 65_534)).toMatchObject({
      health: 'warning',
      found: expect.stringContaining(`${parent} belongs to user 65534`),
    })
  })
})

test('a clock that was set back is noticed by what was logged before, until it is right again', async () => {
  const dataDir = join(await folderOfTest(), 'data')
  const ahead = await openLocal({ dataDir, env: {}, clock: { now: () => Date.now() + HOUR } })
  await ahead.domain.accounts.create({ username: 'ada', password: PASSWORD, role: 'admin' })
  await ahead.close()
  const local = await openLocal({ dataDir, env: {} })
  onTestFinished(() => local.close())
  expect(await finding(local, 'clock')).toMatchObject({
    health: 'failure',
    found: expect.stringContaining('the clock was ahead then, or is behind now'),
    remedy: expect.stringMatching(/NTP.* such as a login/),
  })
  await local.domain.accounts.create({ username: 'bob', password: PASSWORD })
  expect(await finding(local, 'clock')).toMatchObject({
    health: 'ok',
    found: expect.stringContaining('; the clock was ahead before: the audit log has entries dated up to '),
  })
})

describe('the configuration', () => {
  test.each<[string, LocalOptions['flags'], string, Finding['health']]>([
    ['an address of this machine only', {}, 'public-url', 'ok'],
    ['an address for others without a URL', { host: '0.0.0.0' }, 'public-url', 'warning'],
    ['a URL that is not encrypted', { host: '0.0.0.0', public_url: 'http://cloud.example' }, 'public-url', 'warning'],
    ['a URL that is', { host: '0.0.0.0', public_url: 'https://cloud.example' }, 'public-url', 'ok'],
    ['no proxy', {}, 'proxy', 'ok'],
    ['a proxy nobody believes', { public_url: 'https://cloud.example' }, 'proxy', 'warning'],
    ['a proxy', { public_url: 'https://cloud.example', trusted_proxies: '127.0.0.1' }, 'proxy', 'ok'],
    ['limits', {}, 'rate-limits', 'ok'],
    ['no limits', { 'limits.enabled': 'off' }, 'rate-limits', 'warning'],
    ['metrics for everybody', { metrics: 'on' }, 'weak-settings', 'warning'],
    ['no log', { log_level: 'silent' }, 'weak-settings', 'warning'],
    ['tokens that end when idle', { 'auth.device_max_days': '0' }, 'weak-settings', 'ok'],
    ['tokens for ever', { 'auth.device_idle_days': '0', 'auth.device_max_days': '0' }, 'weak-settings', 'warning'],
  ])('%s', async (_, flags, id, health) => {
    expect(await healthOf(await opened({ flags: flags! }), id)).toBe(health)
  })

  test('names a proxy that passes requests on and is not trusted, until it is', async () => {
    const seen = await serverOfTest({ flags: { public_url: 'https://cloud.example', trusted_proxies: '10.0.0.1' } })
    expect(await healthOf(seen.local, 'proxy')).toBe('ok')
    await seen.send('/healthz', { headers: { 'x-forwarded-for': '192.0.2.1' } })
    await expect
      .poll(() => finding(seen.local, 'proxy'))
      .toMatchObject({
        health: 'warning',
        found: expect.stringContaining('127.0.0.1'),
        remedy: expect.stringContaining('trusted_proxies 10.0.0.1,127.0.0.1'),
      })
    const flags = { public_url: 'https://cloud.example', trusted_proxies: '10.0.0.1,127.0.0.0/8' }
    const trusting = await serverOfTest({ dataDir: seen.dataDir, flags })
    await trusting.send('/healthz', { headers: { 'x-forwarded-for': '192.0.2.1' } })
    expect(await healthOf(trusting.local, 'proxy')).toBe('ok')
  })

  test('asks for second factors of administrators where others can reach the service', async () => {
    const here = await opened()
    const there = await opened({ flags: { public_url: 'https://cloud.example' } })
    for (const { domain } of [here, there])
      await domain.accounts.create({ username: 'ada', password: PASSWORD, role: 'admin' })
    await there.domain.accounts.create({ username: 'bob', password: PASSWORD })
    expect(await healthOf(here, 'admin-2fa')).toBe('ok')
    expect(await finding(there, 'admin-2fa')).toMatchObject({ health: 'warning', found: 'ada has no second factor' })
  })

  test('asks for a quota once there are many accounts without one', async () => {
    const local = await opened()
    for (let number = 1; number <= 11; number++)
      await local.domain.accounts.create({ username: `user${number}`, password: PASSWORD })
    expect(await finding(local, 'default-quota')).toMatchObject({
      health: 'warning',
      found: '11 accounts have no quota',
    })
    await local.domain.instance.settings.store('quota.default', 10 ** 9)
    expect(await healthOf(local, 'default-quota')).toBe('ok')
  })
})

test('a service whose blob store is gone is not ready, whatever else is well', async () => {
  const local = await opened()
  expect(await readiness(local)).toMatchObject({ ready: true, checks: { storage: 'ok', migrations: 'ok' } })
  await rm(local.directory.blobs, { recursive: true })
  expect(await readiness(local)).toMatchObject({ ready: false, checks: { storage: 'failure', migrations: 'ok' } })
})

test('a backup and a drill dated in the future are no good news', async () => {
  const clock = makeClock(Date.now() + 3650 * DAY)
  const local = await opened({ clock })
  const place = join(await folderOfTest(), 'backups')
  const target = await backupTarget(local, { to: place, encrypt: false, startsOver: false }, noPassphrases)
  const { manifest } = await local.domain.backups.create(target)
  await local.domain.backups.proved(manifest.id, place)
  clock.pass(-3650 * DAY)
  for (const id of ['backup-age', 'backup-proven'])
    expect(await finding(local, id)).toMatchObject({
      health: 'failure',
      found: expect.stringContaining(`${manifest.id} is recorded for ${iso(clock.now() + 3650 * DAY)}`) as string,
      remedy: expect.stringContaining('svc backup create') as string,
    })
})
