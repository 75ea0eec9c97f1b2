import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { StreamState } from '../../../src/domain/backups/streaming.ts'
import type { Piece } from '../../../src/storage/backups/backup-manifest.ts'
import { chaptersIn, recordsOf } from '../../../src/storage/backups/stream-files.ts'
import type { PageStream } from '../../../src/storage/engine/page-stream.ts'
import { makeNotes } from '../../../src/wiring/backup-stream-status.ts'
import { LARGE, placeOfTest } from '../../support/backups.ts'
import { runCommand } from '../../support/command.ts'
import { bytesOf } from '../../support/contents.ts'
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

test('contents that cannot be read are missing in the stream, and whatever reads it says so and brings back the others', async () => {
  const place = await placeOfTest()
  const lose = async (path: string, serial: number): Promise<() => Promise<string>> => {
    const bytes = bytesOf(LARGE, serial)
    const sha256 = await place.put(path, bytes)
    await rm(join(place.dataDir, 'blobs', sha256.slice(0, 2), sha256.slice(2, 4), sha256))
    return () => place.put(path, bytes)
  }
  const giveBack = await lose('/lost-before.bin', 3)
  let isHeld = false
  const hold = {
    pages: (pages: PageStream): PageStream => ({
      ...pages,
      contents: (which) => (isHeld && which === 'new' ? [] : pages.contents(which)),
    }),
  }
  const first = await streamOf(place, hold)
  await first.until(({ since, missing }) => since !== undefined && missing === 1)
  isHeld = true
  await lose('/lost-meanwhile.bin', 4)
  await place.put('/kept.bin', bytesOf(LARGE, 5))
  isHeld = false
  let state: StreamState | undefined
  await first.until((next) => (state = next).missing === 2)
  const changed = Date.now()
  await place.put('/note.txt', Buffer.from('A change.'))
  await first.until(({ at = 0 }) => at > changed)

  await makeNotes(place.local.directory).note(state!, true)
  const status = await runCommand(place.dataDir, 'backup', 'stream', '--status', '--json')
  expect([status.code, JSON.parse(status.stdout)]).toMatchObject([3, { missing: 2, problem: null }])
  expect((await runCommand(place.dataDir, 'doctor')).stdout).toMatch(
    /backup-stream +warning .*missing in the stream .*: 2/,
  )
  await first.stop()

  const { folder } = first
  const backup = async (...words: string[]) => {
    const { code, stdout, stderr } = await runCommand(place.folder, 'backup', ...words, '--from', folder, '--json')
    return { code, stderr, document: JSON.parse(stdout) as Record<string, unknown> }
  }
  const verified = await backup('verify')
  expect(verified).toMatchObject({ code: 3, document: { sound: true, missing: { stream: 2 } } })
  expect(verified.stderr).toContain('stream: 2 contents could not be read when it was made, and are not in it.')
  const restored = async (name: string, ...words: string[]) => {
    const { code, document } = await backup('restore', ...words, '--data-dir', join(place.folder, name))
    const { missing, contents } = document['lost'] as Record<string, { used_by: string[] }[]>
    return { code, contents, missing: missing!.flatMap(({ used_by }) => used_by).sort() }
  }
  const both = ['ada: /lost-before.bin', 'ada: /lost-meanwhile.bin']
  expect(await restored('stream', 'stream')).toEqual({ code: 3, contents: [], missing: both })
  expect(await restored('backup', 'latest')).toEqual({ code: 3, contents: [], missing: both.slice(0, 1) })
  expect(await backup('drill', 'latest')).toMatchObject({ code: 0, document: { proven: true, missing: 1 } })

  // What comes back later is no longer missing in earlier moments either.
  await giveBack()
  const second = await streamOf(place, {})
  await second.until(({ since, missing }) => since !== undefined && missing === 1)
  await second.stop()
  expect(await backup('verify')).toMatchObject({ code: 3, document: { sound: true, missing: { stream: 1 } } })
  expect(await restored('again', 'stream')).toEqual({ code: 3, contents: [], missing: both.slice(1) })
}, 120_000)
