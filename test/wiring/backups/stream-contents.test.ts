import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Piece } from '../../../src/storage/backups/backup-manifest.ts'
import { chaptersIn, recordsOf } from '../../../src/storage/backups/stream-files.ts'
import { placeOfTest } from '../../support/backups.ts'
import { streamOf } from '../../support/streams.ts'

test('any number of contents that are found at once is written in records that can be read', async () => {
  const place = await placeOfTest()
  const many = Array.from({ length: 750_000 }, (_, index): Piece => {
    return { sha256: createHash('sha256').update(String(index)).digest('hex'), size: 1_000_000 }
  })
  let isReady = false
  let isFound = false
  const stream = await streamOf(place, {
    pages: (pages) => ({
      ...pages,
      contents(which) {
        const found = pages.contents(which)
        if (which === 'all' || !isReady || isFound) return found
        isFound = true
        return many
      },
    }),
    target: (target) => ({
      ...target,
      // Nobody has these contents.
      adding: (work) =>
        target.adding((objects) =>
          work({
            ...objects,
            contents: (pieces) => (isReady ? Promise.resolve(new Set<string>()) : objects.contents(pieces)),
          }),
        ),
    }),
  })
  await stream.until(({ since }) => since !== undefined)
  isReady = true
  await stream.until(() => isFound)
  await place.put('/note.txt', Buffer.from('A change that is written with them.'))
  const changed = Date.now()
  await stream.until(({ at = 0 }) => at > changed)
  await stream.stop()
  const named = new Set<string>()
  const [chapter] = await chaptersIn(stream.folder)
  for await (const { head } of recordsOf(stream.folder, chapter!, undefined))
    for (const { sha256 } of head.blobs) named.add(sha256)
  expect(many.filter(({ sha256 }) => !named.has(sha256)).length).toBe(0)
}, 60_000)
