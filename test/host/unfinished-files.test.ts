import { readdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DAY } from '../../src/base/clock.ts'
import { clearUnfinished, unfinishedName } from '../../src/host/unfinished-files.ts'
import { folderOfTest } from '../support/server.ts'

const NOW = Date.UTC(2026, 0, 10)

/** What is left in a folder of files that were written to so many ms ago. */
async function left(files: Record<string, number>): Promise<string[]> {
  const folder = await folderOfTest()
  for (const [name, age] of Object.entries(files)) {
    await writeFile(join(folder, name), '')
    await utimes(join(folder, name), (NOW - age) / 1_000, (NOW - age) / 1_000)
  }
  await clearUnfinished(folder, 'archive', NOW)
  return (await readdir(folder)).sort()
}

test('an archive of a process that runs stays, and of one that is gone not', async () => {
  const own = unfinishedName('archive')
  // No system numbers its processes so high.
  const gone = own.replace(`-${process.pid}-`, '-2147483647-')
  expect(await left({ [own]: 0, [gone]: 0 })).toEqual([own])
})

test('of a process elsewhere nothing is known: its archive stays until nobody touched it for a day', async () => {
  const elsewhere = (random: string) => `.svc-archive-0123456789ab-1-${random}.tmp`
  const [fresh, old] = [elsewhere('aaaaaaaaaaaa'), elsewhere('bbbbbbbbbbbb')]
  expect(await left({ [fresh]: DAY - 1_000, [old]: DAY + 1_000 })).toEqual([fresh])
})

test('what is not ours stays, however old', async () => {
  const names = [
    '.svc-download-0123456789ab-1-0123456789ab.tmp',
    '.a.tar.0123456789ab.tmp',
    '.svc-archive.tmp',
    'a.tar',
    'svc-archive-0123456789ab-1-0123456789ab.tmp',
  ]
  expect(await left(Object.fromEntries(names.map((name) => [name, 30 * DAY])))).toEqual(names.sort())
})
