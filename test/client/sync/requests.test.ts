import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeBench, write, type Bench } from './bench.ts'
import { everything, FakeServer } from './fake-server.ts'

// How many requests ordinary runs make: what a limit allows in a minute, and what a distant server makes slow.

const FILES = 500

/** A folder and an account with many small files, which know each other by the feed; the log is empty. */
async function agreed(): Promise<Bench> {
  const server = new FakeServer()
  server.features = { ...everything, files_feed: true }
  const bench = await makeBench({ server })
  fill(bench)
  await bench.sync()
  // The first change seen in the feed teaches the ids of all files.
  write(bench.root, 'news', 'news')
  await bench.sync()
  await bench.sync()
  server.log.length = 0
  return bench
}

const fill = ({ root }: Bench): void => {
  for (let at = 0; at < FILES; at += 1) write(root, `folder ${at % 10}/file ${at}`, `content ${at}`)
}

/** What was asked since the last time, with how often. */
function asked({ server }: Bench): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const line of server.log.splice(0)) {
    const action = line.split(' ')[0]!
    counts[action] = (counts[action] ?? 0) + 1
  }
  return counts
}

test('500 small files that are sent for the first time: an archive for each hundred', async () => {
  const server = new FakeServer()
  server.features = { ...everything, files_feed: true }
  const bench = await makeBench({ server })
  fill(bench)
  await bench.sync()
  expect(asked(bench)).toEqual({ validate: 1, capabilities: 1, manifest: 1, upload_batch: 5 })
})

test('500 small files that are fetched for the first time: an archive for each hundred, and one more file', async () => {
  const { server } = await agreed()
  const other = await makeBench({ server, device: 'Desktop' })
  await other.sync()
  expect(asked(other)).toEqual({ validate: 1, capabilities: 1, manifest: 1, download_batch: 5, download: 1 })
})

test('nothing to do: one look into the feed, and no file is read', async () => {
  const bench = await agreed()
  expect(await bench.sync()).toMatchObject({ requests: 1, hashed: 0 })
  expect(asked(bench)).toEqual({ delta: 1 })
})

test('one edit: one more', async () => {
  const bench = await agreed()
  write(bench.root, 'folder 1/file 1', 'another content')
  expect(await bench.sync()).toMatchObject({ hashed: 1 })
  expect(asked(bench)).toEqual({ delta: 1, upload: 1 })
  bench.server.put('/folder 2/file 2', 'another content')
  await bench.sync()
  expect(asked(bench)).toEqual({ delta: 1, download: 1 })
})

test('a folder of 50 files that is moved: one more, whatever it holds', async () => {
  const bench = await agreed()
  renameSync(join(bench.root, 'folder 3'), join(bench.root, 'moved'))
  expect(await bench.sync()).toMatchObject({ hashed: 0 })
  expect(asked(bench)).toEqual({ delta: 1, move: 1 })
  bench.server.rename('/moved', '/moved back')
  await bench.sync()
  expect(asked(bench)).toEqual({ delta: 1 })
})

test('two folders that are deleted: one for their files, one for themselves', async () => {
  const bench = await agreed()
  for (const at of [5, 6]) rmSync(join(bench.root, `folder ${at}`), { recursive: true })
  await bench.sync()
  expect(asked(bench)).toEqual({ delta: 1, files_batch: 2 })
  bench.server.remove('/folder 7')
  await bench.sync()
  expect(asked(bench)).toEqual({ delta: 1 })
})

test('100 empty folders: one for all of them', async () => {
  const bench = await agreed()
  for (let at = 0; at < 100; at += 1) write(bench.root, `new/${at}/.keep`, '')
  for (let at = 0; at < 100; at += 1) rmSync(join(bench.root, `new/${at}/.keep`))
  await bench.sync()
  expect(asked(bench)).toEqual({ delta: 1, files_batch: 1 })
})
