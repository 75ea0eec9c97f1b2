import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { ChapterWriter } from '../../../src/storage/backups/chapter-writer.ts'
import type { StreamTarget } from '../../../src/storage/backups/stream-target.ts'
import { placeOfTest } from '../../support/backups.ts'
import { streamOf } from '../../support/streams.ts'

/** A target whose disk becomes read-only. */
function readOnlyAtTimes(target: StreamTarget, disk: { isReadOnly: boolean; refused: number }): StreamTarget {
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
  return {
    ...target,
    adding: (use) => guarded(() => target.adding(use)),
    begin: () => guarded(async () => guardedWriter(await target.begin())),
  }
}

test('a disk that stays read-only is reported once, and the changes follow when it can be written', async () => {
  const place = await placeOfTest()
  const disk = { isReadOnly: false, refused: 0 }
  const problems: (string | undefined)[] = [undefined]
  const { folder, until } = await streamOf(
    place,
    { target: (target) => readOnlyAtTimes(target, disk) },
    ({ problem }) => {
      if (problem !== problems.at(-1)) problems.push(problem)
    },
  )
  await until(({ since }) => since !== undefined)
  disk.isReadOnly = true
  await place.put('/meanwhile.bin', Buffer.alloc(100_000, 1))
  await until(() => disk.refused >= 6)
  expect(problems).toEqual([undefined, `${folder} cannot be used: the disk is read-only.`])
  disk.isReadOnly = false
  const writable = Date.now()
  await until(({ at = 0 }) => at > writable)
  expect(problems).toEqual([undefined, `${folder} cannot be used: the disk is read-only.`, undefined])
})
