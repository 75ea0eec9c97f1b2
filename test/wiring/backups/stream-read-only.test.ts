import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../../src/base/clock.ts'
import { stream, type StreamState } from '../../../src/domain/backups/streaming.ts'
import { repositoryAt } from '../../../src/storage/backups/repository.ts'
import type { ChapterWriter } from '../../../src/storage/backups/stream-files.ts'
import { openStreamTarget, type StreamTarget } from '../../../src/storage/backups/stream-target.ts'
import { openSqlitePageStream } from '../../../src/storage/engine/sqlite-page-stream.ts'
import { openBlobs } from '../../../src/wiring/installation/storage.ts'
import { placeOfTest } from '../../support/backups.ts'

/** A target whose disk becomes read-only. */
function readOnlyAtTimes(target: StreamTarget) {
  const disk = { isReadOnly: false, refused: 0 }
  const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
    if (!disk.isReadOnly) return work()
    disk.refused += 1
    const path = join(target.place, 'locks', String(disk.refused))
    throw Object.assign(new Error(`EROFS: read-only file system, open '${path}'`), { code: 'EROFS', path })
  }
  const guardedWriter = (writer: ChapterWriter): ChapterWriter => ({
    ...writer,
    append: (head, pages) => guarded(() => writer.append(head, pages)),
    recover: () => guarded(() => writer.recover()),
  })
  const guardedTarget: StreamTarget = {
    ...target,
    adding: (use) => guarded(() => target.adding(use)),
    begin: () => guarded(async () => guardedWriter(await target.begin())),
  }
  return { disk, target: guardedTarget }
}

test('a disk that stays read-only is reported once, and the changes follow when it can be written', async () => {
  const place = await placeOfTest()
  await place.backUp('repo')
  const folder = join(place.folder, 'repo')
  const blobs = await openBlobs(place.local.directory, '', {})
  const into = await openStreamTarget(folder, (await repositoryAt(folder))!, undefined, blobs)
  const { disk, target } = readOnlyAtTimes(into)
  const pages = openSqlitePageStream(place.local.directory.database)
  const stop = new AbortController()
  const problems: (string | undefined)[] = [undefined]
  let state: StreamState | undefined
  let follow: (() => void) | undefined
  const { identity } = place.local.domain.instance
  const streaming = stream(
    {
      pages,
      target,
      clock: systemClock,
      identity,
      version: '1',
      installation: () => Promise.resolve([]),
      days: 1,
      onState(next) {
        state = next
        if (next.problem !== problems.at(-1)) problems.push(next.problem)
        follow?.()
      },
    },
    stop.signal,
  )
  onTestFinished(async () => {
    stop.abort()
    await streaming
    pages.close()
    await into.close()
    await blobs.close()
  })
  const until = async (isTrue: () => boolean): Promise<void> => {
    while (!isTrue()) await new Promise<void>((resolve) => (follow = resolve))
  }
  await until(() => state?.since !== undefined)
  disk.isReadOnly = true
  await place.put('/meanwhile.bin', Buffer.alloc(100_000, 1))
  await until(() => disk.refused >= 6)
  expect(problems).toEqual([undefined, `${folder} cannot be used: the disk is read-only.`])
  disk.isReadOnly = false
  const writable = Date.now()
  await until(() => (state?.at ?? 0) > writable)
  expect(problems).toEqual([undefined, `${folder} cannot be used: the disk is read-only.`, undefined])
})
