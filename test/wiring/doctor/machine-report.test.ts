import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { hostStatusOf } from '../../../src/wiring/doctor/machine-report.ts'
import { backupTarget } from '../../../src/wiring/backups/backup-locations.ts'
import { manifestAt, noPassphrases, placeOfTest } from '../../support/backups.ts'

const passphrases = { ...noPassphrases, chosen: () => Promise.resolve('correct horse'), work: 4 }

test('tells of encrypted backups as long as it keeps their key', async () => {
  const place = await placeOfTest()
  const { instance, backups } = place.local.domain
  const machine = hostStatusOf(place.local)
  expect(await machine.storedBackups(5)).toEqual({ count: 0, newest: [] })
  const folder = join(place.folder, 'backups')
  await instance.settings.store('backup.to', folder)
  expect(await machine.storedBackups(5)).toMatchObject({ count: 0, error: expect.stringContaining(folder) as string })
  const made: string[] = []
  for (const encrypt of [true, false, false]) {
    const target = await backupTarget(place.local, { to: folder, encrypt, startsOver: false }, passphrases)
    made.push((await backups.create(target)).manifest.id)
  }
  const { count, newest, error } = await machine.storedBackups(2)
  expect([count, error]).toEqual([3, undefined])
  expect(newest.map(({ id }) => id)).toEqual(made.sort().reverse().slice(0, 2))
  expect(newest[0]).toMatchObject({ accounts: 1, files: 2 })
  await rm(join(place.dataDir, 'keys'), { recursive: true })
  expect(await machine.storedBackups(5)).toMatchObject({
    count: 0,
    newest: [],
    error: expect.stringContaining('no key') as string,
  })
})

test('says what is wrong with a folder of backups, and goes on', async () => {
  const place = await placeOfTest()
  const { manifest } = await place.backUp('backups')
  const folder = join(place.folder, 'backups')
  await place.local.domain.instance.settings.store('backup.to', folder)
  const machine = hostStatusOf(place.local)
  expect(await machine.storedBackups(5)).toMatchObject({ count: 1 })
  await writeFile(manifestAt(folder, manifest.id), '{"format": 1')
  expect(await machine.storedBackups(5)).toMatchObject({
    count: 1,
    newest: [],
    error: expect.stringContaining('is not valid') as string,
  })
  expect((await machine.disk()).free).toBeGreaterThan(0)
})
