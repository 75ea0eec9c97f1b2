import { randomInt } from 'node:crypto'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { verify } from '../../../src/domain/backups/backups.ts'
import { currentLocks } from '../../../src/storage/backups/lock.ts'
import { bytesOf, blobsOf, sha256Of } from '../../support/contents.ts'
import { startChild } from '../../support/child.ts'
import { placeOfTest, sourceOf } from '../../support/backups.ts'
import { folderOfTest } from '../../support/server.ts'

const KILLS = 8

test('a backup that is killed anywhere leaves a sound folder, and the next one completes', async () => {
  const place = await placeOfTest()
  await place.backUp('repo')
  const repository = join(place.folder, 'repo')
  const hashes: string[] = []
  for (let round = 0; round < KILLS; round++) {
    // New contents each time, so that there is something to be in the middle of.
    for (let file = 0; file < 6; file++)
      hashes.push(await place.put(`/round ${round}/${file}.bin`, bytesOf(200_000 + file, round * 100 + file + 1)))
    const child = await startChild('backup', place.folder)
    await sleep(randomInt(0, 60))
    await child.kill()
    const source = await sourceOf(repository)
    const { problems } = await verify(source, await source.ids(), await folderOfTest())
    expect(problems).toEqual([])
  }
  const { manifest } = await place.backUp('repo')
  expect(manifest.blobs.count).toBe(hashes.length + 1)
  const source = await sourceOf(repository)
  expect((await source.ids()).at(-1)).toBe(manifest.id)
  expect((await verify(source, await source.ids(), await folderOfTest())).problems).toEqual([])
  // What the killed ones were writing is swept away, and their locks hold nobody up: one that was cut off before it said
  // whose it is may lie there for a while.
  expect(await readdir(join(repository, 'tmp'))).toEqual([])
  expect(await currentLocks(join(repository, 'locks'), Date.now())).toEqual([])
})

test('a first backup that is killed does not stand in the way of the next', async () => {
  const place = await placeOfTest()
  for (let round = 0; round < KILLS; round++) {
    const child = await startChild('backup', place.folder)
    await sleep(randomInt(0, 25))
    await child.kill()
    await place.backUp('repo', { anew: true })
    const source = await sourceOf(join(place.folder, 'repo'))
    expect((await verify(source, await source.ids(), await folderOfTest())).problems).toEqual([])
    await rm(join(place.folder, 'repo'), { recursive: true })
  }
})

test('an archive that is killed leaves nothing behind the next one, and one that is being written is let be', async () => {
  const place = await placeOfTest()
  await place.put('/large.bin', bytesOf(20_000_000, 7))
  const unfinished = async () => (await readdir(place.folder)).filter((name) => name.endsWith('.tmp'))
  const child = await startChild('archive', place.folder)
  let written: string[] = []
  while (written.length === 0) {
    child.process.kill('SIGCONT')
    await setImmediate()
    child.process.kill('SIGSTOP')
    written = await unfinished()
  }
  await place.backUp('beside.tar')
  expect(await unfinished()).toEqual(written)
  await child.kill()
  expect(await unfinished()).toEqual(written)
  await place.backUp('after.tar')
  expect(await unfinished()).toEqual([])
})

test.each(['missing', 'empty'])(
  'a restore that is killed leaves a target as it was (%s), and the next one completes',
  async (state) => {
    const place = await placeOfTest()
    for (let file = 0; file < 20; file++) await place.put(`/${file}.bin`, bytesOf(300_000, file + 10))
    await place.backUp('repo')
    const target = join(place.folder, 'new')
    let finished = 0
    for (let round = 0; round < KILLS; round++) {
      if (state === 'empty') await mkdir(target)
      const child = await startChild('restore', place.folder)
      await sleep(randomInt(0, 250))
      await child.kill()
      const made = await readdir(target).catch(() => undefined)
      // All of it or nothing.
      if (made && made.length > 0) {
        finished += 1
        expect(await blobsOf(target)).toEqual(await blobsOf(place.dataDir))
        expect(made.sort()).toEqual(['blobs', 'keys', 'svc.db'])
      }
      await rm(target, { recursive: true, force: true })
    }
    expect(finished).toBeLessThan(KILLS)
    const child = await startChild('restore', place.folder)
    expect(await child.end()).toBe(0)
    expect((await readdir(place.folder)).sort()).toEqual(['data', 'new', 'repo'])
    expect(await blobsOf(target)).toContain(sha256Of(bytesOf(300_000, 29)))
  },
)
