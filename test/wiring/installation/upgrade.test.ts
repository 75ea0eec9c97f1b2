import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, renameSync, rmSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { appliedMigrations, migrate, migrations } from '../../../src/storage/engine/migrations/migrate.ts'
import { openLocal, type Local } from '../../../src/wiring/local-domain.ts'
import { keepCopy } from '../../../src/wiring/upgrade.ts'
import { runCommand } from '../../support/command.ts'
import { folderOfTest } from '../../support/server.ts'
import { straceMissing } from '../../support/strace.ts'
import { openForTest } from '../../support/storage.ts'

// An installation of the first version with two accounts, files, a note and a room, as that version left it: three migrations.

const fixture = fileURLToPath(new URL('first-version.tar.gz', import.meta.url))
const OLD = ['0001-initial', '0002-session-api', '0003-administration']
const noStrace = await straceMissing()
const program = fileURLToPath(new URL('../../../bin/svc.js', import.meta.url))
const NEW = migrations.map(({ name }) => name)

async function firstVersion() {
  const folder = await folderOfTest()
  execFileSync('tar', ['xzf', fixture, '-C', folder])
  const applied = async (name = 'svc.db') => {
    const database = openForTest(join(folder, name))
    const names = await appliedMigrations(database.read)
    await database.close()
    return names
  }
  return { folder, applied, svc: (...words: string[]) => runCommand(folder, ...words) }
}

/** Runs `work` on the domain of an installation; `change` makes changes of an account. */
async function withDomain<T>(
  dataDir: string,
  work: (parts: { user: number; change: (times: number) => Promise<void>; domain: Local['domain'] }) => Promise<T>,
): Promise<T> {
  const { domain, close } = await openLocal({ dataDir, env: {} })
  try {
    const { id: user } = await domain.accounts.details('ada')
    const change = async (times: number) => {
      const operation = { table: 'svc_notes', operation: 'INSERT', data: { title: 'x' } } as const
      for (let at = 0; at < times; at += 1) await domain.sync.push(user, { operations: [operation] })
    }
    return await work({ user, change, domain })
  } finally {
    await close()
  }
}

test('an installation of the first version is tried, upgraded, and can go back', async () => {
  const { folder, applied, svc } = await firstVersion()
  const before = await readFile(join(folder, 'svc.db'))
  const check = await svc('upgrade', '--check')
  expect(check).toMatchObject({ code: 3, stderr: '' })
  expect(check.stdout).toMatch(/^This version changes the database:\n {2}0004-assistant\n/)
  expect(check.stdout).toMatch(/Tried on a copy of [\d.]+ KB: it works and takes (less than a second|\d+ s)\.\n/)
  expect(check.stdout).toContain('To go back: stop svc, install the earlier version')
  expect(await readFile(join(folder, 'svc.db'))).toEqual(before)
  expect((await readdir(folder)).filter((name) => name.includes('upgrade'))).toEqual([])

  const { code, stdout } = await svc('upgrade', '--json')
  const copy = join(folder, 'svc.db.before-upgrade')
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { migrations: NEW.slice(OLD.length), copy, done: true }])
  expect(await applied()).toEqual(NEW)
  expect(await svc('upgrade', '--check')).toMatchObject({ code: 0, stdout: expect.stringContaining('up to date') })
  expect(await svc('storage', 'check')).toMatchObject({ code: 0, stdout: expect.stringContaining('2 contents') })
  const users = JSON.parse((await svc('user', 'list', '--json')).stdout) as { username: string }[]
  expect(users.map(({ username }) => username)).toEqual(['ada', 'bob'])
  const archive = join(folder, 'ada.tar')
  expect(await svc('user', 'export', 'ada', '--to', archive)).toMatchObject({ code: 0 })
  expect(execFileSync('tar', ['tf', archive]).toString()).toContain('letters/june.txt')

  for (const name of ['svc.db-wal', 'svc.db-shm']) rmSync(join(folder, name), { force: true })
  renameSync(copy, join(folder, 'svc.db'))
  expect(await applied()).toEqual(OLD)
})

test('clients notice that the copy from before an upgrade was put back, also after as many changes as they had seen', async () => {
  const { folder, svc } = await firstVersion()
  await svc('upgrade')
  const seen = await withDomain(folder, async ({ user, change, domain }) => {
    await change(5)
    return { cursor: await domain.sync.head(user), epoch: domain.instance.identity.epoch }
  })
  for (const name of ['svc.db-wal', 'svc.db-shm']) rmSync(join(folder, name), { force: true })
  renameSync(join(folder, 'svc.db.before-upgrade'), join(folder, 'svc.db'))
  await withDomain(folder, async ({ user, change, domain }) => {
    await change(10)
    expect(await domain.sync.head(user)).toBeGreaterThan(seen.cursor)
    await expect(domain.sync.changesSince(user, seen, () => AbortSignal.timeout(10_000))).rejects.toMatchObject({
      code: 'epoch_mismatch',
    })
  })
})

test('an upgrade that fails leaves the database of the earlier version', async () => {
  const { folder, applied, svc } = await firstVersion()
  const database = openForTest(join(folder, 'svc.db'))
  // Made by hand: a table of a later migration is in the way.
  await database.write('instance', (tx) => sql`create table content_removals (x integer) strict`.execute(tx.q))
  await database.close()
  for (const words of [['upgrade', '--check'], ['upgrade'], ['user', 'list']])
    expect(await svc(...words)).toMatchObject({ code: 1, stderr: expect.stringContaining('content_removals') })
  expect(await applied()).toEqual(OLD)
  expect(existsSync(join(folder, 'svc.db.before-upgrade'))).toBe(true)
})

test('what another process upgraded meanwhile does not replace the copy from before', async () => {
  const { folder } = await firstVersion()
  const database = openForTest(join(folder, 'svc.db'))
  const copyTo: typeof database.copyTo = async (file, options) => {
    await migrate(database)
    return database.copyTo(file, options)
  }
  await keepCopy({ ...database, copyTo }, folder)
  await database.close()
  expect((await readdir(folder)).filter((name) => name.includes('upgrade'))).toEqual([])
})

test.skipIf(noStrace)(
  'an upgrade that is killed leaves the old state or the new, and the next one finishes',
  async () => {
    // At a write of SQLite: into the copy, into the log before its commit, and out of the log after it.
    const moments = [
      { file: undefined, write: 60, left: OLD },
      { file: 'svc.db-wal', write: 1, left: OLD },
      { file: 'svc.db-wal', write: 60, left: OLD },
      { file: 'svc.db', write: 5, left: NEW },
    ]
    for (const { file, write, left } of moments) {
      const { folder, applied, svc } = await firstVersion()
      const unfinished = async () => (await readdir(folder)).filter((name) => name.startsWith('.upgrade-'))
      const traced = ['-f', '-o', '/dev/null', '-e', `inject=pwrite64:signal=KILL:when=${write}`]
      if (file) traced.push('-P', join(folder, file))
      const env = { PATH: process.env['PATH'], HOME: folder, SVC_DATA_DIR: folder }
      const { signal } = spawnSync('strace', [...traced, process.execPath, program, 'user', 'list'], { env })
      expect([file, write, signal]).toEqual([file, write, 'SIGKILL'])
      expect(await unfinished()).toHaveLength(file === undefined ? 1 : 0)
      expect([file, write, await applied()]).toEqual([file, write, left])
      expect(await svc('user', 'list')).toMatchObject({ code: 0, stdout: expect.stringContaining('bob') })
      expect(await unfinished()).toEqual([])
      expect([await applied(), await applied('svc.db.before-upgrade')]).toEqual([NEW, OLD])
    }
  },
)
