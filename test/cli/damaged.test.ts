import { truncate, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runCommand } from '../support/command.ts'
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
