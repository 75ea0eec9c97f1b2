import { cp, mkdir, readdir, readFile, rename, rm, truncate, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { openSqliteFile } from '../../src/host/sqlite-file.ts'
import { runCommand } from '../support/command.ts'
import { bytesOf } from '../support/contents.ts'
import { bytesBelow, clientOf, done, startServe } from '../support/outside.ts'
import { folderOfFile, folderOfTest } from '../support/server.ts'

// What the built command does with a data directory whose database is gone or is not its own.

const LARGE = 100_000
const FILES = ['/a.bin', '/b.bin', '/c.bin'].map((path, index) => ({ path, bytes: bytesOf(LARGE, index + 1) }))

const used = join(await folderOfFile(), 'data')

beforeAll(async () => {
  await done(used, 'user', 'add', 'ada', '--role', 'admin', '--generate')
  const server = await startServe(used)
  const ada = await clientOf(used, server.url, 'ada')
  for (const { path, bytes } of FILES) await ada.upload(path, bytes)
  await server.end()
})

/** A copy of the installation that a test may damage. */
async function copyOfTest() {
  const folder = await folderOfTest()
  const dataDir = join(folder, 'data')
  await cp(used, dataDir, { recursive: true, preserveTimestamps: true })
  return { folder, dataDir, database: join(dataDir, 'svc.db') }
}

async function expectServed(dataDir: string): Promise<void> {
  const server = await startServe(dataDir)
  const ada = await clientOf(dataDir, server.url, 'ada')
  for (const { path, bytes } of FILES) expect((await ada.download(path)).equals(bytes)).toBe(true)
  expect(await server.end()).toBe(0)
}

const WAYS = /svc backup restore latest --from DIR --data-dir NEW.*svc init --new or svc serve --new/s

describe('a data directory that lost its database', { timeout: 300_000 }, () => {
  test('is refused by every command with the ways out, and stays as it is', async () => {
    const { folder, dataDir, database } = await copyOfTest()
    await rm(database)
    const seed = join(folder, 'seed.json')
    await writeFile(seed, '{"version": 1}')
    const before = await bytesBelow(dataDir)
    const commands = [
      ['serve', '--port', '0'],
      ['doctor'],
      ['doctor', '--fix'],
      ['storage', 'gc'],
      ['storage', 'check', '--repair'],
      ['storage', 'migrate', '--to', 'sqlite:'],
      ['init', '--admin', 'bob', '--generate'],
      ['user', 'add', 'bob', '--generate'],
      ['user', 'list'],
      ['seed', seed],
      ['seed', seed, '--dry-run'],
      ['config', 'set', 'port', '9000'],
      ['app', 'add', 'clock', '--path', '/apps/clock/index.html'],
      ['backup', 'create', '--to', join(folder, 'backups')],
      ['maintenance', 'on'],
    ]
    for (const args of commands) {
      const { code, stdout, stderr } = await runCommand(dataDir, ...args)
      expect([args, code]).toEqual([args, 8])
      expect(stdout + stderr).toMatch(/holds the keys and contents of an installation, but no database/)
      expect(stdout + stderr).toMatch(WAYS)
      expect(await bytesBelow(dataDir)).toEqual(before)
    }
  })

  test.each<[string, (file: string) => Promise<unknown>]>([
    ['of no bytes', (file) => truncate(file)],
    ['that is no database', (file) => writeFile(file, 'no database '.repeat(1_000))],
    [
      'of another program',
      async (file) => {
        await rm(file)
        const other = openSqliteFile(file)
        other.script('create table things (id integer primary key)')
        other.close()
      },
    ],
    [
      'of another installation',
      async (file) => {
        const other = join(await folderOfTest(), 'other')
        await done(other, 'user', 'add', 'eve', '--role', 'admin', '--generate')
        await cp(join(other, 'svc.db'), file)
      },
    ],
  ])('and has one %s is refused, and goes on with its own', async (_, damage) => {
    const { dataDir, database } = await copyOfTest()
    const own = `${database}.own`
    await cp(database, own)
    await damage(database)
    const before = await bytesBelow(dataDir)
    for (const args of [
      ['serve', '--port', '0'],
      ['doctor', '--fix'],
      ['storage', 'gc'],
      ['user', 'list'],
    ]) {
      const { code, stdout, stderr } = await runCommand(dataDir, ...args)
      expect([args, code]).toEqual([args, 8])
      expect(stdout + stderr).toMatch(/restore a backup/)
      expect(await bytesBelow(join(dataDir, 'blobs'))).toEqual(
        Object.fromEntries(
          Object.entries(before)
            .filter(([name]) => name.startsWith('blobs/'))
            .map(([name, hash]) => [name.slice('blobs/'.length), hash]),
        ),
      )
    }
    await rm(`${database}-wal`, { force: true })
    await rm(`${database}-shm`, { force: true })
    await rename(own, database)
    await expectServed(dataDir)
  })

  test('comes back from a backup in a new folder', async () => {
    const { folder, dataDir, database } = await copyOfTest()
    const backups = join(folder, 'backups')
    await done(dataDir, 'backup', 'create', '--to', backups)
    await rm(database)
    const target = join(folder, 'new')
    const restored = await runCommand(dataDir, 'backup', 'restore', 'latest', '--from', backups, '--data-dir', target)
    expect([restored.code, restored.stderr]).toEqual([0, ''])
    await expectServed(target)
  })

  test('starts afresh with --new, and what was there is moved aside as it was', async () => {
    const { dataDir, database } = await copyOfTest()
    await rm(database)
    const { ...before } = await bytesBelow(dataDir)
    const server = await startServe(dataDir, '--new')
    expect(await server.end()).toBe(0)
    const [aside] = (await readdir(dataDir)).filter((name) => name.startsWith('lost-'))
    expect(await bytesBelow(join(dataDir, aside!))).toEqual(before)
    expect(await done(dataDir, 'user', 'list', '--json')).toBe('[]')
    expect((await runCommand(dataDir, 'doctor', '--fix')).code).toBe(3)
    expect((await runCommand(dataDir, 'storage', 'gc')).code).toBe(0)
    expect(await bytesBelow(join(dataDir, aside!))).toEqual(before)
    // There is nothing lost any more that could be begun anew.
    const again = await runCommand(dataDir, 'init', '--new', '--admin', 'ada', '--generate')
    expect([again.code, again.stderr]).toEqual([6, expect.stringContaining('has its database')])
  })
})

describe('a command that sets an installation up', () => {
  test('and fails leaves nothing behind', async () => {
    const folder = await folderOfTest()
    const weak = join(folder, 'weak.txt')
    const seed = join(folder, 'seed.json')
    await writeFile(weak, 'short')
    await writeFile(seed, '{"version": 1, "users": [{"username": "not a name"}]}')
    const there = join(folder, 'there')
    await mkdir(there, { mode: 0o700 })
    await writeFile(join(there, 'config.json'), '{"port": 9000}')
    const before = await bytesBelow(folder)
    for (const args of [
      ['init'],
      ['init', '--admin', 'ada', '--password-file', weak],
      ['user', 'add', 'not a name', '--generate'],
      ['seed', seed],
      ['config', 'set', 'nothing', '1'],
    ])
      for (const dataDir of [join(folder, 'deep', 'data'), there]) {
        const { code } = await runCommand(dataDir, ...args)
        expect([args, code]).not.toEqual([args, 0])
        expect([await readdir(folder), await bytesBelow(folder)]).toEqual([['seed.json', 'there', 'weak.txt'], before])
      }
  })

  test('makes nothing when it only shows what it would do', async () => {
    const folder = await folderOfTest()
    const seed = join(folder, 'seed.json')
    await writeFile(seed, '{"version": 1, "users": [{"username": "ada", "generate": true}]}')
    for (const args of [
      ['seed', seed, '--dry-run'],
      ['seed', '--schema'],
    ]) {
      const { code, stdout } = await runCommand(join(folder, 'data'), ...args)
      expect([code, stdout]).toEqual([0, expect.stringContaining('user')])
      expect(await readdir(folder)).toEqual(['seed.json'])
    }
  })
})

describe('the collector', { timeout: 300_000 }, () => {
  const DAYS = 24 * 60 * 60 * 1_000

  /** Makes everything that is stored look some days old. */
  async function age(dataDir: string, days: number): Promise<void> {
    const then = new Date(Date.now() - days * DAYS)
    for (const name of Object.keys(await bytesBelow(join(dataDir, 'blobs'))))
      await utimes(join(dataDir, 'blobs', name), then, then)
  }

  const change = (database: string, sql: string) => {
    const file = openSqliteFile(database)
    file.script(sql)
    file.close()
  }

  /** What a server that found nothing to do for so many days remembers. */
  const seen = (days: number) =>
    `update instance set value = json_set(value, '$.seen', ${Date.now() - days * DAYS}, '$.swept', ${Date.now() - (days + 1) * DAYS}) where key = 'collector'`

  async function expectRefused(dataDir: string, reason: RegExp): Promise<number> {
    const before = await bytesBelow(join(dataDir, 'blobs'))
    const gc = await runCommand(dataDir, 'storage', 'gc')
    expect([gc.code, gc.stderr]).toEqual([8, expect.stringMatching(reason)])
    const doctor = await runCommand(dataDir, 'doctor', '--fix')
    expect([doctor.code, doctor.stdout]).toEqual([1, expect.stringMatching(reason)])
    const dry = await runCommand(dataDir, 'storage', 'gc', '--dry-run')
    expect([dry.code, dry.stderr]).toEqual([3, expect.stringMatching(reason)])
    expect(await bytesBelow(join(dataDir, 'blobs'))).toEqual(before)
    return Number(/--confirm-count (\d+)/.exec(gc.stderr)![1])
  }

  test('refuses contents that came while an older database was not in use, until their number is confirmed', async () => {
    const { dataDir, database } = await copyOfTest()
    await age(dataDir, 10)
    change(database, `${seen(9)}; update contents set touched_at = 0`)
    const older = `${database}.older`
    await cp(database, older)
    const server = await startServe(dataDir)
    await (await clientOf(dataDir, server.url, 'ada')).upload('/new.bin', bytesOf(LARGE, 9))
    await server.end()
    await age(dataDir, 3)
    await rename(older, database)
    const again = await startServe(dataDir)
    await (await clientOf(dataDir, again.url, 'ada')).upload('/other.bin', bytesOf(LARGE, 10))
    await again.end()
    const count = await expectRefused(dataDir, /older database may have been restored/)
    expect(count).toBe(1)
    expect((await runCommand(dataDir, 'storage', 'gc', '--confirm-count', '1')).code).toBe(0)
    await expectServed(dataDir)
    expect((await runCommand(dataDir, 'storage', 'gc')).code).toBe(0)
  })

  test.each([
    ['rows of files', 'delete from nodes where sha256 is not null', /lost rows of files/],
    [
      'rows of contents',
      'delete from nodes where sha256 is not null; delete from contents',
      /had rows before: an older database/,
    ],
    ['its accounts', 'delete from users; delete from nodes; delete from contents', /not a single account/],
  ])('refuses what belongs to no file because the database lost %s', async (_, damage, reason) => {
    const { dataDir, database } = await copyOfTest()
    await age(dataDir, 10)
    change(database, `${seen(2)}; update contents set touched_at = 0; ${damage}`)
    await expectRefused(dataDir, reason)
  })

  test('refuses more than half of everything, until as much was removed before', async () => {
    const { dataDir, database } = await copyOfTest()
    const MANY = 1_001
    const leave = (count: number) =>
      change(
        database,
        `with recursive n (i) as (select 1 union all select i + 1 from n where i < ${count})
         insert into contents (sha256, size, data, touched_at) select printf('%064x', i), 1, x'00', 0 from n`,
      )
    const gc = async (...args: string[]) => (await runCommand(dataDir, 'storage', 'gc', ...args)).code
    leave(MANY)
    expect(await expectRefused(dataDir, /more than half of everything/)).toBe(MANY)
    expect(await gc('--confirm-count', `${MANY - 1}`)).toBe(8)
    expect(await gc('--confirm-count', `${MANY}`)).toBe(0)
    leave(MANY)
    expect(await gc()).toBe(0)
    leave(MANY + 1)
    expect(await gc()).toBe(8)
  })

  test('removes what people deleted without being asked, however much it is', async () => {
    const { dataDir, database } = await copyOfTest()
    const server = await startServe(dataDir)
    const ada = await clientOf(dataDir, server.url, 'ada')
    for (const { path } of FILES) await ada.remove(path)
    await server.end()
    await age(dataDir, 40)
    change(database, 'update contents set touched_at = 0; update trash set deleted_at = 0')
    const gc = await runCommand(dataDir, 'storage', 'gc', '--json')
    expect([gc.code, JSON.parse(gc.stdout)]).toEqual([0, expect.objectContaining({ trash: 3, contents: 3 })])
    expect(Object.keys(await bytesBelow(join(dataDir, 'blobs')))).toEqual(['installation'])
  })

  test('and the server refuse the contents of another installation, of an unknown one, and an empty place where contents should be', async () => {
    const { folder, dataDir } = await copyOfTest()
    const blobs = join(dataDir, 'blobs')
    await rename(blobs, `${blobs}.own`)
    await cp(`${blobs}.own`, blobs, { recursive: true })
    await writeFile(join(blobs, 'installation'), 'another\n')
    const before = await bytesBelow(blobs)
    for (const args of [
      ['serve', '--port', '0'],
      ['storage', 'gc'],
    ])
      expect(await runCommand(dataDir, ...args)).toMatchObject({
        code: 8,
        stderr: expect.stringMatching(/belongs to another installation.*svc storage adopt/) as string,
      })
    expect(await bytesBelow(blobs)).toEqual(before)
    await done(dataDir, 'storage', 'adopt', '--yes')
    await expectServed(dataDir)

    await rename(blobs, join(folder, 'adopted'))
    expect(await runCommand(dataDir, 'serve', '--port', '0')).toMatchObject({
      code: 8,
      stderr: expect.stringMatching(/is its disk mounted/) as string,
    })
    await mkdir(join(blobs, 'ab', 'ab'), { recursive: true })
    await writeFile(join(blobs, 'ab', 'ab', 'ab'.repeat(32)), 'x')
    expect(await runCommand(dataDir, 'serve', '--port', '0')).toMatchObject({
      code: 8,
      stderr: expect.stringMatching(/knows none of the contents.*svc storage adopt/) as string,
    })
    await rm(blobs, { recursive: true })
    await rename(`${blobs}.own`, blobs)
    await expectServed(dataDir)
  })
})

test('the documented commands for a lost database work as printed, one after the other', async () => {
  const { folder, dataDir, database } = await copyOfTest()
  const page = await readFile(new URL('../../src/docs/backup-and-restore.md', import.meta.url), 'utf8')
  const [, block] = /## If the database is lost[^]*?```sh\n([^]*?)```/.exec(page)!
  const [backups, target] = [join(folder, 'backups'), join(folder, 'new')]
  await done(dataDir, 'backup', 'create', '--to', backups)
  await rm(database)
  const lines = block!.trim().split('\n')
  expect(lines).toHaveLength(5)
  for (const line of lines) {
    const words = line.replace(/ *#.*/, '').split(' ').slice(1)
    const args = words.map((word) => ({ '/mnt/backup/svc': backups, '/srv/svc-new': target })[word] ?? word)
    if (args[0] === 'serve') expect(await (await startServe(dataDir, ...args.slice(1))).end()).toBe(0)
    else expect([line, await runCommand(dataDir, ...args)]).toMatchObject([line, { code: 0 }])
  }
})

test('a key that was only being written does not look like a lost installation', async () => {
  const dataDir = join(await folderOfTest(), 'data')
  await mkdir(join(dataDir, 'keys'), { recursive: true, mode: 0o700 })
  await writeFile(join(dataDir, 'keys', '.secret.key.new.0123456789ab.tmp'), '')
  await writeFile(join(dataDir, 'svc.db'), '')
  expect(await runCommand(dataDir, 'init', '--admin', 'root', '--generate')).toMatchObject({ code: 0 })
})
