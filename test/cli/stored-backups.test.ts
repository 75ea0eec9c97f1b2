import { rename, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runCommand } from '../support/command.ts'
import { folderOfTest } from '../support/server.ts'

/** An installation with a backup in `place`. */
async function world() {
  const folder = await folderOfTest()
  const [dataDir, place] = [join(folder, 'data'), join(folder, 'backups')]
  async function done(...words: string[]) {
    const ended = await runCommand(dataDir, ...words)
    expect(ended).toMatchObject({ code: 0 })
    return ended
  }
  const schedule = async (to: string) => (await done('backup', 'schedule', '30 3 * * *', '--to', to)).stderr
  const create = async (to: string) =>
    (JSON.parse((await done('backup', 'create', '--to', to, '--json')).stdout) as { id: string }).id
  await done('user', 'add', 'ada', '--generate')
  return { folder, dataDir, place, done, schedule, create }
}

async function backupAge(dataDir: string): Promise<string> {
  const { checks } = JSON.parse((await runCommand(dataDir, 'doctor', '--json')).stdout) as {
    checks: { id: string; found: string }[]
  }
  return checks.find(({ id }) => id === 'backup-age')!.found
}

test('a folder whose backups are older than those elsewhere, or of the original, is not called empty', async () => {
  const { folder, dataDir, place, schedule, create } = await world()
  const id = await create(place)
  await create(join(folder, 'elsewhere'))
  expect(await schedule(place)).not.toContain('There is no backup')
  expect(await backupAge(dataDir)).toBe(`this installation created none in ${place} yet; the newest there is ${id}`)
  expect(await schedule(join(folder, 'empty'))).toContain(`There is no backup in ${join(folder, 'empty')} yet`)
  expect(await backupAge(dataDir)).toBe(`there is none in ${join(folder, 'empty')} yet`)

  await schedule(place)
  const copy = join(folder, 'copy')
  expect(await runCommand(copy, 'backup', 'restore', id, '--from', place, '--data-dir', copy)).toMatchObject({
    code: 0,
  })
  expect(await runCommand(copy, 'backup', 'schedule', '0 4 * * *', '--to', place)).toMatchObject({
    code: 0,
    stderr: expect.not.stringContaining('There is no backup') as string,
  })
  expect(await backupAge(copy)).toContain(`the newest there is ${id}`)
})

test('a folder that cannot be read is not called empty', async () => {
  const { folder, dataDir, schedule } = await world()
  const loop = join(folder, 'loop')
  await symlink(loop, loop)
  expect(await schedule(loop)).toContain(`Whether ${loop} contains backups is not known: `)
  const found = await backupAge(dataDir)
  expect(found).toContain(`none is recorded in ${loop}`)
  expect(found).toContain('it leads through too many symbolic links')
})

test('a backup that cannot begin in the configured place is the last failure, until one succeeds', async () => {
  const { folder, dataDir, place, done, schedule, create } = await world()
  await create(place)
  await schedule(place)
  await rename(place, join(folder, 'away'))
  expect(await runCommand(dataDir, 'backup', 'create', '--to', place)).toMatchObject({ code: 8 })
  expect(await backupAge(dataDir)).toMatch(/^the last backup failed .*The backups that were in .* are gone/)
  expect((await done('backup', 'schedule')).stdout).toMatch(/^Failed .*are gone/m)

  await rename(join(folder, 'away'), place)
  await create(place)
  await writeFile(join(folder, 'file'), '')
  // Elsewhere, and with a wrong command line, nothing failed that anybody relies on.
  expect((await runCommand(dataDir, 'backup', 'create', '--to', join(folder, 'file'))).code).toBe(6)
  expect((await runCommand(dataDir, 'backup', 'create', '--prune', '--to', join(folder, 'a.tar'))).code).toBe(2)
  expect(await backupAge(dataDir)).not.toContain('failed')
})
