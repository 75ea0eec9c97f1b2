import { once } from 'node:events'
import { readdir, readFile, stat } from 'node:fs/promises'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { syncFiles } from '../../src/contract/sync-files.ts'
import { serve, type ServeOptions } from '../../src/wiring/server.ts'
import { startChild } from '../support/child.ts'
import { openRaw, rawHead, readRaw } from '../support/raw.ts'
import { folderOfTest, serverOfTest, startServer } from '../support/server.ts'
import { openForTest } from '../support/storage.ts'
import { makeAccount } from '../support/account.ts'
import { makeClock } from '../support/clock.ts'

const started = async (options: ServeOptions) => {
  const server = await serve({ env: { SVC_PORT: '0' }, log: false, ...options })
  onTestFinished(() => server.close())
  return server
}

async function listener(): Promise<Server> {
  const other = createServer()
  other.listen(0, '127.0.0.1')
  await once(other, 'listening')
  return other
}

const portOf = (server: Server): string => String((server.address() as AddressInfo).port)

/** A port that somebody else listens on. */
async function takenPort(): Promise<string> {
  const other = await listener()
  onTestFinished(() => void other.close())
  return portOf(other)
}

/** A port on which nobody listens just now. */
async function freePort(): Promise<string> {
  const other = await listener()
  const port = portOf(other)
  other.close()
  await once(other, 'close')
  return port
}

describe('a server that starts', () => {
  test('says where it is, also in a file, as long as it answers', async () => {
    const folder = await folderOfTest()
    const readyFile = join(folder, 'ready.json')
    const { url, local, close } = await serve({
      env: { SVC_PORT: '0' },
      log: false,
      dataDir: join(folder, 'data'),
      readyFile,
    })
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect(JSON.parse(await readFile(readyFile, 'utf8'))).toEqual({
      url,
      pid: process.pid,
      version: local.domain.instance.version,
    })
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    await close()
    expect(await readdir(folder)).toEqual(['data'])
  })

  test('listens where it is told to, and on this machine only where it is not', async () => {
    const { url } = await started({ dataDir: await folderOfTest(), flags: { host: '::1', port: '0' } })
    expect(url).toMatch(/^http:\/\/\[::1\]:\d+$/)
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
  })

  test('on a port that is taken says so and lets go of everything', async () => {
    const dataDir = await folderOfTest()
    const port = await takenPort()
    await expect(serve({ dataDir, env: {}, flags: { port }, log: false })).rejects.toMatchObject({ code: 'EADDRINUSE' })
    const { url } = await started({ dataDir })
    expect((await fetch(`${url}/readyz`)).status).toBe(200)
  })

  test('with a ready file that cannot be written does not go on', async () => {
    const folder = await folderOfTest()
    const dataDir = join(folder, 'data')
    const port = await freePort()
    const options = { dataDir, env: {}, flags: { port }, log: false }
    await expect(serve({ ...options, readyFile: join(folder, 'missing', 'ready.json') })).rejects.toMatchObject({
      code: 'ENOENT',
    })
    await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow('fetch failed')
    const { url } = await started(options)
    expect((await fetch(`${url}/readyz`)).status).toBe(200)
  })

  test('for a while leaves nothing behind, also when it cannot start', async () => {
    // Nor does it touch what the machine is set up for.
    const env = { SVC_PORT: '0', SVC_DATABASE: 'postgres://svc@127.0.0.1:1/svc', SVC_BLOBS: 's3://svc-files' }
    const { url, local, close } = await serve({ env, log: false, ephemeral: true })
    const { path } = local.directory
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    expect(await readdir(path)).toContain('svc.db')
    await close()
    await expect(stat(path)).rejects.toThrow('ENOENT')

    const port = await takenPort()
    await expect(serve({ env: {}, flags: { port }, log: false, ephemeral: true })).rejects.toMatchObject({
      code: 'EADDRINUSE',
    })
  })

  test('with a configuration that is wrong says everything that is, and makes no database', async () => {
    const dataDir = await folderOfTest()
    await expect(serve({ dataDir, env: { SVC_PORT: 'x', SVC_LIMITS: 'y' }, log: false })).rejects.toThrow(
      /SVC_PORT must be .*\nSVC_LIMITS must be /,
    )
    expect(await readdir(dataDir)).toEqual([])
  })
})

describe('a server that stops', () => {
  const { upload } = syncFiles.actions

  test('finishes what is in progress, and takes nothing new', async () => {
    const server = await startServer()
    const account = await server.account()
    const raw = await openRaw(server.url)
    const headers = { authorization: `Bearer ${account.token}`, 'content-length': 10, connection: 'close' }
    raw.write(`${rawHead('POST', `${upload.path}?action=upload&path=/a.txt`, headers)}01234`)
    // The server knows of the request once another one, sent later, is answered.
    await account.manifest()
    const closing = server.close()
    await expect(fetch(`${server.url}/healthz`)).rejects.toThrow('fetch failed')
    raw.write('56789')
    const { status, body } = readRaw(await raw.answer())
    expect([status, JSON.parse(body)]).toMatchObject([200, { ok: true, size: 10 }])
    await closing
  })

  test('waits for nobody who only keeps a connection open', async () => {
    const server = await startServer()
    const idle = await Promise.all([openRaw(server.url), openRaw(server.url)])
    idle[0].write(rawHead('GET', '/healthz', {}))
    await idle[0].until('"status"')
    // The time after which connections are cut never comes.
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    await server.close()
    await Promise.all(idle.map((raw) => raw.answer()))
  })

  test('by a signal of its parent ends well, with everything written', async () => {
    const dataDir = await folderOfTest()
    const child = await startChild('serve', dataDir)
    const database = openForTest(join(dataDir, 'svc.db'))
    const account = await makeAccount({ url: child.ready, database, clock: makeClock(Date.now()) }, { role: 'admin' })
    await account.put('/a.txt', 'a')
    expect(await child.end()).toBe(0)
    const { files } = await database.snapshot(async ({ q }) => ({
      files: await q.selectFrom('nodes').select('name').where('type', '=', 'file').execute(),
    }))
    expect(files).toEqual([{ name: 'a.txt' }])
  })
})

test('two servers on one data directory serve the same', async () => {
  const one = await serverOfTest()
  const two = await serverOfTest({ dataDir: one.dataDir, clock: one.clock })
  const account = await one.account()
  await account.put('/a.txt', 'from one')
  const { url } = two
  const other = { url, headers: { authorization: `Bearer ${account.token}` } }
  const there = await fetch(`${url}${syncFiles.actions.download.path}?action=download&path=/a.txt`, other)
  expect([there.status, await there.text()]).toEqual([200, 'from one'])
  await one.set('limits.enabled', true)
  expect((await fetch(`${url}${syncFiles.actions.manifest.path}?action=manifest`, other)).status).toBe(200)
})
