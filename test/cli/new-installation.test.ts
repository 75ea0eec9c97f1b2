import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runCommandWith } from '../support/command.ts'
import { temporaryFolder } from '../support/folder.ts'

test('a command that creates an installation at the standard place says where, once', async () => {
  const home = await temporaryFolder()
  const place = join(home, '.local/share/svc')
  const setQuota = (...words: string[]) => runCommandWith({ HOME: home }, 'config', 'set', 'quota.default', ...words)
  const note = `This created a new installation in ${place}. To name another one: --data-dir DIR.\n`
  expect(await setQuota('1GB')).toMatchObject({ code: 0, stderr: note })
  expect(await setQuota('2GB')).toMatchObject({ code: 0, stderr: '' })
  expect(await setQuota('2GB', '--data-dir', join(home, 'named'))).toMatchObject({ code: 0, stderr: '' })
})

test('a command that fails tells of no installation, and leaves none', async () => {
  const home = await temporaryFolder()
  const { code, stderr } = await runCommandWith({ HOME: home }, 'config', 'set', 'quota.default', 'much')
  expect(code).not.toBe(0)
  expect(stderr).not.toContain('created')
  expect((await runCommandWith({ HOME: home }, 'config', 'list')).code).toBe(5)
})

test('doctor reminds of the data directory that the commands of its remedies need', async () => {
  const place = join(await temporaryFolder(), 'of svc')
  const named = (...words: string[]) => runCommandWith({}, ...words, '--data-dir', place)
  await named('config', 'set', 'quota.default', '1GB')
  const { stdout } = await named('doctor')
  expect(stdout).toContain('remedy: svc user add NAME --role admin')
  expect(stdout.trimEnd().split('\n').at(-1)).toBe(`Give these commands the same data directory: --data-dir '${place}'`)
  expect((await runCommandWith({ SVC_DATA_DIR: place }, 'doctor')).stdout).not.toContain('--data-dir')
})
