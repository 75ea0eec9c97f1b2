import { readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { DAY } from '../../../src/base/clock.ts'
import type { StreamState } from '../../../src/domain/backups/streaming.ts'
import { readRepository, repositoryAt } from '../../../src/storage/backups/repository.ts'
import { beginChapter } from '../../../src/storage/backups/chapter-writer.ts'
import { FILE_HEADER } from '../../../src/storage/backups/stream-record.ts'
import { openMoment } from '../../../src/storage/backups/stream-moment.ts'
import { openStreamTarget } from '../../../src/storage/backups/stream-target.ts'
import { openBlobs } from '../../../src/wiring/installation/storage.ts'
import { streamBackups } from '../../../src/wiring/backups/stream.ts'
import { noPassphrases, placeOfTest } from '../../support/backups.ts'
import { runCommand } from '../../support/command.ts'
import { folderOfTest } from '../../support/server.ts'
import { streamOf } from '../../support/streams.ts'

const chaptersOf = async (folder: string): Promise<string[]> =>
  (await readdir(join(folder, 'stream'))).filter((name) => name !== 'locks').sort()

test('a stream begins new copies of the database, and moments of earlier ones stay restorable', async () => {
  const place = await placeOfTest()
  const to = join(place.folder, 'streamed')
  const stop = new AbortController()
  let state: StreamState | undefined
  let follow: (() => void) | undefined
  const streaming = streamBackups(
    place.local,
    { to, encrypt: false, startsOver: false, days: 7, chapterLength: 300 },
    { passphrases: noPassphrases, env: {} },
    (next) => {
      state = next
      follow?.()
    },
    stop.signal,
  )
  const until = async (isTrue: () => boolean | Promise<boolean>): Promise<void> => {
    while (!(await isTrue()))
      await Promise.race([
        new Promise<void>((resolve) => (follow = resolve)),
        streaming.then(() => Promise.reject(new Error('It has ended.'))),
      ])
  }
  onTestFinished(async () => {
    stop.abort()
    await streaming
  })
  const moments: number[] = []
  for (let file = 0; file < 4; file += 1) {
    const before = state?.since === undefined ? 0 : (await chaptersOf(to)).length
    await place.put(`/file-${file}.bin`, Buffer.alloc(1_000 + 100_000 * file, file + 1))
    await until(async () => state?.since !== undefined && (await chaptersOf(to)).length > before)
    const written = Date.now()
    await until(() => (state?.at ?? 0) > written)
    moments.push(Date.now())
  }
  stop.abort()
  await streaming
  expect((await chaptersOf(to)).length).toBeGreaterThan(3)
  for (const [file, moment] of moments.entries()) {
    const source = await openMoment(to, undefined, moment, { scratch: await folderOfTest(), without: [] })
    const [id] = await source.ids()
    expect([source.shortfall, (await source.manifest(id!)).totals.files]).toEqual([undefined, 3 + file])
    await source.close()
  }
  const verified = await readRepository(to, (await repositoryAt(to))!, undefined).verifyStream!()
  expect(verified.problems).toEqual([])
}, 60_000)

test('damage in a chapter that another one followed is reported, and shortens its moments', async () => {
  const place = await placeOfTest()
  const run = async (): Promise<number> => {
    const stream = await streamOf(place, {})
    await stream.until(({ since }) => since !== undefined)
    let written = 0
    for (const text of ['first', 'second']) {
      await place.put('/note.txt', Buffer.from(text))
      const put = (written = Date.now())
      await stream.until(({ at = 0 }) => at > put)
    }
    await stream.stop()
    return written
  }
  const moment = await run()
  const folder = join(place.folder, 'repo')
  const [first] = await chaptersOf(folder)
  const file = join(folder, 'stream', first!, '000001.log')
  // As after a kill.
  await truncate(file, (await stat(file)).size - 10)
  const verified = async () =>
    (await readRepository(folder, (await repositoryAt(folder))!, undefined).verifyStream!()).problems
  expect(await verified()).toEqual([])
  await run()
  expect(await verified()).toEqual([])
  await run()
  const whole = await readFile(file)
  const restored = async (at: number | undefined) => {
    const source = await openMoment(folder, undefined, at, { scratch: await folderOfTest(), without: [] })
    await source.close()
    return source.shortfall
  }
  const damaged = [
    [Buffer.concat([whole, Buffer.alloc(10)]), 'it is cut off'],
    [whole.subarray(0, -10), 'it is cut off'],
    [whole.subarray(0, FILE_HEADER), 'its end is missing'],
  ] as const
  for (const [bytes, what] of damaged) {
    await writeFile(file, bytes)
    const told = [expect.stringContaining(`${file}: ${what}`)]
    expect(await verified()).toEqual(told)
    if (what === 'it is cut off') expect([await restored(moment)]).toEqual(told)
    expect(await restored(undefined)).toBeUndefined()
  }
  await writeFile(file, whole)
  const [, second] = await chaptersOf(folder)
  await rm(join(folder, 'stream', second!, 'base.json'))
  expect(await verified()).toEqual([expect.stringMatching(/The copy of the database in .* is missing/)])
  await rm(join(folder, 'stream', second!), { recursive: true })
  expect(await verified()).toEqual([`The stream is damaged: ${join(folder, 'stream', second!)} is missing.`])
}, 60_000)

test('chapters are removed by age, but never the newest ones, as many as there are days and one', async () => {
  const place = await placeOfTest()
  await place.backUp('repo')
  const folder = join(place.folder, 'repo')
  const blobs = await openBlobs(place.local.directory, '', {})
  const target = await openStreamTarget(folder, (await repositoryAt(folder))!, undefined, blobs)
  const now = Date.parse('2026-11-26T14:00:00Z')
  const names: string[] = []
  for (const age of [9, 8, 7, 3, 2, 1]) {
    const writer = await beginChapter(folder, undefined, now - age * DAY - 1_000)
    await writer.close()
    names.push(writer.chapter.name)
  }
  // The moments of the chapter that begins before the limit reach beyond it.
  await target.removeOld(4, now)
  expect(await chaptersOf(folder)).toEqual(names.slice(1))
  await target.removeOld(2, now)
  expect(await chaptersOf(folder)).toEqual(names.slice(3))
  // A clock that is far ahead.
  await target.removeOld(2, now + 3_650 * DAY)
  expect(await chaptersOf(folder)).toEqual(names.slice(3))
  await target.close()
  await blobs.close()
})

test('svc backup prune --stream-days removes old chapters where the stream may not, and shows them before', async () => {
  const place = await placeOfTest()
  await place.backUp('repo')
  const folder = join(place.folder, 'repo')
  const names: string[] = []
  for (const age of [9, 8, 7, 3, 2, 1]) {
    const writer = await beginChapter(folder, undefined, Date.now() - age * DAY - 1_000)
    await writer.close()
    names.push(writer.chapter.name)
  }
  const prune = (...more: string[]) =>
    runCommand(place.folder, 'backup', 'prune', '--from', folder, '--json', '--stream-days', '4', ...more)
  const planned = await prune('--dry-run')
  expect([planned.code, JSON.parse(planned.stdout)]).toMatchObject([0, { chapters: names.slice(0, 1), dry_run: true }])
  expect(await chaptersOf(folder)).toEqual(names)
  expect(await prune('--yes')).toMatchObject({ code: 0 })
  expect(await chaptersOf(folder)).toEqual(names.slice(1))
  expect((await prune('--yes')).code).toBe(0)
  expect(await chaptersOf(folder)).toEqual(names.slice(1))
})
