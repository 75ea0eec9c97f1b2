import { truncate, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runSql } from '../support/backups.ts'
import { runCommand, runCommandWith } from '../support/command.ts'
import { lineOfTest } from '../support/s3-line.ts'
import { folderOfTest } from '../support/server.ts'

test('a damaged database is told with the way back, by every command', { timeout: 60_000 }, async () => {
  const dataDir = join(await folderOfTest(), 'data')
  const made = await runCommand(dataDir, 'init', '--admin', 'root', '--generate')
  expect(made).toMatchObject({ code: 0 })
  for (const suffix of ['-wal', '-shm']) await rm(join(dataDir, `svc.db${suffix}`), { force: true })
  await truncate(join(dataDir, 'svc.db'), 40_000)
  for (const args of [['user', 'list'], ['serve', '--port', '0', '--log-format', 'pretty'], ['doctor']]) {
    const { code, stdout, stderr } = await runCommand(dataDir, ...args)
    expect([args, code]).toEqual([args, 1])
    expect(stdout + stderr).toMatch(/svc backup restore/)
  }
})

const healthOf = (stdout: string): Record<string, string> =>
  Object.fromEntries(
    (JSON.parse(stdout) as { checks: { id: string; health: string }[] }).checks.map(({ id, health }) => [id, health]),
  )

test('svc doctor goes on where a check cannot be made', { timeout: 60_000 }, async () => {
  const dataDir = join(await folderOfTest(), 'data')
  expect(await runCommand(dataDir, 'init', '--admin', 'root', '--generate')).toMatchObject({ code: 0 })
  const store = await lineOfTest('http://127.0.0.1:9')
  store.decide(() => ({ answer: { status: 403, code: 'AccessDenied' } }))
  const env = {
    HOME: dataDir,
    SVC_DATA_DIR: dataDir,
    SVC_BLOBS: `s3://svc-files?endpoint=${store.url}`,
    AWS_ACCESS_KEY_ID: 'key',
    AWS_SECRET_ACCESS_KEY: 'secret',
  }
  const withoutStore = await runCommandWith(env, 'doctor', '--fix', '--json')
  expect(withoutStore.code).toBe(1)
  expect(healthOf(withoutStore.stdout)).toMatchObject({
    database: 'ok',
    storage: 'failure',
    'orphaned-blobs': 'failure',
    administrator: 'ok',
    'backup-age': 'warning',
  })
  expect(withoutStore.stdout).toMatch(/give the key the rights to list the bucket/)

  runSql(join(dataDir, 'svc.db'), 'alter table users rename column role to rolle')
  const damaged = await runCommand(dataDir, 'doctor', '--json')
  expect(damaged.code).toBe(1)
  expect(healthOf(damaged.stdout)).toMatchObject({ database: 'ok', storage: 'ok', administrator: 'failure' })
})

test.each([
  ['backup', 'create', '--to', '/proc/svc-test/backups'],
  ['sync', 'init', '/proc/svc-test/folder'],
  ['user', 'list', '--data-dir', '/proc/svc-test/data'],
  ['serve', '--port', '0', '--data-dir', '/proc/svc-test/data'],
])('svc %s %s ends where no folder can be made', { timeout: 60_000 }, async (...args) => {
  const dataDir = join(await folderOfTest(), 'data')
  await runCommand(dataDir, 'init', '--admin', 'root', '--generate')
  const { code, stderr } = await runCommand(dataDir, ...args)
  expect(code).not.toBe(0)
  expect(stderr).not.toBe('')
})
