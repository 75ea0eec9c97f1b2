import { readdir, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeThumbnailCache } from '../../src/storage/contents/thumbnail-cache.ts'
import { folderOfTest } from '../support/server.ts'

test('thumbnails stay below their limit: the oldest go, also those of an earlier process', async () => {
  const folder = await folderOfTest()
  const open = () => makeThumbnailCache(folder, () => Promise.resolve(1_000))
  const first = open()
  for (const name of ['aa-1', 'bb-1', 'cc-1', 'dd-1', 'ee-1']) await first.put(name, Buffer.alloc(200))
  await utimes(join(folder, 'cc', 'cc-1'), 1, 1)
  await utimes(join(folder, 'dd', 'dd-1'), 2, 2)
  const second = open()
  expect((await second.get('aa-1'))!.data.length).toBe(200)
  await second.put('ff-1', Buffer.alloc(200))
  const left = (await readdir(folder, { recursive: true })).filter((name) => name.includes('-1'))
  expect(left.map((name) => name.slice(3)).sort()).not.toContain('cc-1')
  expect(left.map((name) => name.slice(3)).sort()).not.toContain('dd-1')
  expect(left.length).toBe(3)
  expect(await second.get('ff-1')).toBeDefined()
  await second.put('gg-1', Buffer.alloc(2_000))
  expect(await second.get('gg-1')).toBe(undefined)
})
