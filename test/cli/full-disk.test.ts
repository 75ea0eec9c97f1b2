import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { bytesOf } from '../support/contents.ts'
import { clientOf, done, startServe } from '../support/outside.ts'
import { fill, smallDisk } from '../support/small-disk.ts'

const MIB = 1 << 20
/** The size of a log that the next transaction moves into the database, bytes. */
const CHECKPOINT_IS_DUE = 1_000 * 4_120

test('a server whose disk is full when a checkpoint is due refuses and loses nothing', async (context) => {
  const made = await smallDisk(24 * MIB)
  if ('reason' in made) return context.skip(made.reason)
  const dataDir = join(made.folder, 'data')
  await done(dataDir, 'user', 'add', 'ada', '--role', 'admin', '--generate')
  await done(dataDir, 'config', 'set', 'limits.enabled', 'false')
  const server = await startServe(dataDir)
  const ada = await clientOf(dataDir, server.url, 'ada')
  const contents: Buffer[] = []
  while ((await stat(join(dataDir, 'svc.db-wal'))).size < CHECKPOINT_IS_DUE) {
    contents.push(bytesOf(60_000, contents.length))
    await ada.upload(`/${contents.length - 1}.bin`, contents.at(-1)!)
  }
  const makeRoom = await fill(made.folder)
  for (let attempt = 0; attempt < 5; attempt += 1)
    await expect(ada.remove(`/${attempt}.bin`)).rejects.toThrow(/: 507 .*"disk_full"/)
  // Whoever ends it waits for the checkpoint.
  expect(await server.end()).toBe(0)
  expect(server.stderr()).not.toContain('"level":60')
  await makeRoom()
  const again = await startServe(dataDir)
  const back = await clientOf(dataDir, again.url, 'ada')
  for (const [number, bytes] of contents.entries())
    expect((await back.download(`/${number}.bin`)).equals(bytes)).toBe(true)
  await back.remove('/0.bin')
  expect(await again.end()).toBe(0)
  await done(dataDir, 'storage', 'check')
})
