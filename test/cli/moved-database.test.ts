import { once } from 'node:events'
import { cp, mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { bytesOf } from '../support/contents.ts'
import { bytesBelow, clientOf, done, startServe, type ServeProcess } from '../support/outside.ts'
import { folderOfFile, folderOfTest } from '../support/server.ts'

// What a running server does when the files of its database are removed, replaced or unmounted under it.

const NAMES = ['svc.db', 'svc.db-wal', 'svc.db-shm']
const LARGE = bytesOf(100_000, 1)
const SMALL = bytesOf(100, 2)
/** The contents of a file that is stored in the database: some 15 pages of the log. */
const pages = (number: number) => bytesOf(60_000, 10 + number)
/** The size of a log that the next transaction moves into the database, bytes. */
const CHECKPOINT_IS_DUE = 1_000 * 4_120

const used = join(await folderOfFile(), 'data')

beforeAll(() => done(used, 'user', 'add', 'ada', '--role', 'admin', '--generate'), 120_000)

/** A server on a copy of the installation, with a client that has stored a file. */
async function running() {
  const folder = await folderOfTest()
  const dataDir = join(folder, 'data')
  await cp(used, dataDir, { recursive: true, preserveTimestamps: true })
  const server = await startServe(dataDir)
  const ada = await clientOf(dataDir, server.url, 'ada')
  await ada.upload('/before.bin', LARGE)
  return { folder, dataDir, server, ada }
}

type Client = Awaited<ReturnType<typeof clientOf>>

const readiness = async ({ url }: ServeProcess) => (await fetch(`${url}/readyz`)).status

const levels = (server: ServeProcess, text: RegExp) =>
  server
    .stderr()
    .split('\n')
    .filter((line) => text.test(line))
    .map((line) => (JSON.parse(line) as { level: number }).level)

/** Nothing is acknowledged, nothing is told, and it is said once what happened and what to do. */
async function expectOutOfService(server: ServeProcess, ada: Client, reason: RegExp): Promise<void> {
  for (const body of [SMALL, LARGE]) await expect(ada.upload('/lost.bin', body)).rejects.toThrow(/: 503 .*"busy"/)
  await expect(ada.remove('/before.bin')).rejects.toThrow(/: 503 .*"busy"/)
  await expect.poll(() => ada.download('/before.bin').catch(String)).toMatch(/: 503 .*"busy"/)
  await expect.poll(() => readiness(server)).toBe(503)
  await expect.poll(() => levels(server, reason)).toEqual([50])
  expect(levels(server, /restore a backup to a new folder/)).toEqual([50])
}

describe('a running server', { timeout: 300_000 }, () => {
  test.each([NAMES, ['svc.db-wal']])(
    'whose %s is removed acknowledges nothing from then on, and makes no other',
    async (...names) => {
      const { dataDir, server, ada } = await running()
      for (const name of names) await rm(join(dataDir, name))
      await expectOutOfService(server, ada, new RegExp(`${names[0]} was removed or its disk unmounted`))
      expect(await server.end()).toBe(0)
      expect(await readdir(dataDir)).not.toContain(names[0])
    },
  )

  test('whose svc.db is replaced by another neither writes to it nor acknowledges anything', async () => {
    const { dataDir, server, ada } = await running()
    const other = join(await folderOfTest(), 'other')
    await done(other, 'user', 'add', 'eve', '--role', 'admin', '--generate')
    await rename(join(other, 'svc.db'), join(dataDir, 'svc.db'))
    const before = await bytesBelow(dataDir)
    await expectOutOfService(server, ada, /svc.db was replaced by another file/)
    expect(await server.end()).toBe(0)
    expect((await bytesBelow(dataDir))['svc.db']).toBe(before['svc.db'])
  })

  test('whose disk goes away writes nothing where it was mounted, and goes on when it is back', async () => {
    const { folder, dataDir, server, ada } = await running()
    const away = join(folder, 'away')
    await rename(dataDir, away)
    await mkdir(dataDir, { mode: 0o700 })
    await expectOutOfService(server, ada, /svc.db was removed or its disk unmounted/)
    expect(await readdir(dataDir)).toEqual([])
    await rm(dataDir, { recursive: true })
    await rename(away, dataDir)
    await expect.poll(() => readiness(server)).toBe(200)
    await ada.upload('/after.bin', SMALL)
    for (const [path, bytes] of [['/before.bin', LARGE] as const, ['/after.bin', SMALL] as const])
      expect((await ada.download(path)).equals(bytes)).toBe(true)
    expect(levels(server, /database is back/)).toEqual([30])
    expect(await server.end()).toBe(0)
  })

  test.each([['svc.db'], NAMES])(
    'whose %s is away when its first checkpoint is due refuses until it is back, and has then whatever it acknowledged',
    async (...names) => {
      const { folder, dataDir, server, ada } = await running()
      await done(dataDir, 'config', 'set', 'limits.enabled', 'false')
      const away = join(folder, 'away')
      await mkdir(away)
      const acknowledged: string[] = []
      const fill = async () => {
        const path = `/${acknowledged.length}.bin`
        await ada.upload(path, pages(acknowledged.length))
        acknowledged.push(path)
      }
      while ((await stat(join(dataDir, 'svc.db-wal'))).size < CHECKPOINT_IS_DUE) await fill()
      for (const name of names) await rename(join(dataDir, name), join(away, name))
      await expectOutOfService(server, ada, /svc.db was removed or its disk unmounted/)
      expect(await readdir(dataDir)).not.toContain('svc.db')
      for (const name of names) await rename(join(away, name), join(dataDir, name))
      await expect.poll(() => readiness(server)).toBe(200)
      const { size } = await stat(join(dataDir, 'svc.db'))
      for (let more = 0; more < 100; more += 1) await fill()
      expect((await stat(join(dataDir, 'svc.db'))).size).toBeGreaterThan(size)
      const over = once(server.process, 'exit')
      server.process.kill('SIGKILL')
      await over
      const again = await startServe(dataDir)
      const back = await clientOf(dataDir, again.url, 'ada')
      for (const [number, path] of acknowledged.entries())
        expect((await back.download(path)).equals(pages(number))).toBe(true)
      expect(await again.end()).toBe(0)
      await done(dataDir, 'storage', 'check')
    },
  )

  test('has in the files that were moved away whatever it acknowledged until it noticed', async () => {
    const { folder, dataDir, server, ada } = await running()
    const away = join(folder, 'away')
    await mkdir(away)
    const acknowledged: string[] = []
    const refused: string[] = []
    const send = async (path: string) => {
      const list = await ada.upload(path, SMALL).then(
        () => acknowledged,
        () => refused,
      )
      list.push(path)
    }
    const uploads = Array.from({ length: 4 }, async (_, sender) => {
      for (let number = 0; refused.length < 8; number += 1) await send(`/${sender}-${number}.bin`)
    })
    await expect.poll(() => acknowledged.length, { timeout: 60_000 }).toBeGreaterThan(20)
    for (const name of NAMES) await rename(join(dataDir, name), join(away, name))
    await Promise.all(uploads)
    const over = once(server.process, 'exit')
    server.process.kill('SIGKILL')
    await over
    for (const name of NAMES) await rename(join(away, name), join(dataDir, name))
    const again = await startServe(dataDir)
    const back = await clientOf(dataDir, again.url, 'ada')
    for (const path of acknowledged) expect((await back.download(path)).equals(SMALL)).toBe(true)
    expect(await again.end()).toBe(0)
  })
})
