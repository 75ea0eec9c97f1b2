import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { bytesAtHand, openPool, poolKeys } from '../../src/storage/backups/object-pool.ts'
import { readAll } from '../../src/storage/backups/file-bytes.ts'
import { sha256Of } from '../support/contents.ts'
import { folderOfTest } from '../support/server.ts'

const OBJECTS = 90
const contents = Array.from({ length: OBJECTS }, (_, index) => Buffer.from(`content ${index}`))
const pieceOf = (bytes: Buffer) => ({ sha256: sha256Of(bytes), size: bytes.length })

test.each([
  ['open', undefined],
  ['encrypted', poolKeys(Buffer.alloc(32, 7))],
])('within thirty days every damaged object of an %s repository is stored anew', async (_name, keys) => {
  const folder = await folderOfTest()
  await mkdir(join(folder, 'tmp'))
  const first = openPool(folder, keys, { reread: { day: 1 } })
  for (const bytes of contents) expect(await first.add(pieceOf(bytes), bytesAtHand(bytes))).toBe('added')
  const pathOf = (bytes: Buffer) => {
    const name = first.nameOf(sha256Of(bytes))
    return join(folder, 'objects', name.slice(0, 2), name)
  }
  const sound = await Promise.all(contents.map((bytes) => readFile(pathOf(bytes))))
  for (const bytes of contents) {
    const stored = await readFile(pathOf(bytes))
    await writeFile(pathOf(bytes), stored.fill(stored.at(-1)! ^ 1, stored.length - 1))
  }

  const repairedOn = []
  for (let day = 20_000; day < 20_030; day += 1) {
    const pool = openPool(folder, keys, { reread: { day } })
    await pool.load()
    let repaired = 0
    for (const bytes of contents) if ((await pool.add(pieceOf(bytes), bytesAtHand(bytes))) === 'repaired') repaired += 1
    repairedOn.push(repaired)
  }
  expect(repairedOn.reduce((sum, count) => sum + count)).toBe(OBJECTS)
  expect(Math.max(...repairedOn)).toBeLessThan(OBJECTS / 3)
  const stored = await Promise.all(contents.map((bytes) => readFile(pathOf(bytes))))
  if (!keys) expect(stored).toEqual(sound)
  const reader = openPool(folder, keys)
  for (const bytes of contents) expect(await readAll(reader.read(pieceOf(bytes)))).toEqual(bytes)
})
