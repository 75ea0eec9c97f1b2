import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { bytesOf } from '../support/contents.ts'
import { clientOf, startServeWith } from '../support/outside.ts'
import { lineOfTest } from '../support/s3-line.ts'
import { s3Environment, s3OfFile } from '../support/s3.ts'
import { folderOfTest, startServer } from '../support/server.ts'

const store = s3OfFile()
const LARGE = bytesOf(100_000, 1)
const SMALL = bytesOf(100, 2)

test.each([
  ['answers 500', { answer: { status: 500, code: 'InternalError' } }],
  ['is silent', { silence: true }],
])(
  'a server starts while its store %s, says so, answers what needs no store, and serves the rest when it is back',
  async (_, fate) => {
    const [folder, bucket] = [await folderOfTest(), await store.bucket()]
    const way = await lineOfTest(bucket.endpoint)
    const dataDir = join(folder, 'data')
    const blobs = bucket.address({ endpoint: way.url })
    const before = await startServer({ dataDir, flags: { blobs }, env: s3Environment })
    const { username, put } = await before.account()
    await put('/large.bin', LARGE)
    await before.close()

    way.decide(() => fate)
    const env = { HOME: folder, SVC_DATA_DIR: dataDir, SVC_BLOBS: blobs, ...s3Environment }
    const server = await startServeWith(env)
    onTestFinished(() => void server.process.kill('SIGKILL'))
    const client = await clientOf(dataDir, server.url, username)
    await client.upload('/small.bin', SMALL)
    expect((await client.download('/small.bin')).equals(SMALL)).toBe(true)
    // A proxy goes on sending requests.
    const ready = await fetch(`${server.url}/readyz`)
    expect([ready.status, await ready.json()]).toMatchObject([200, { ok: true, checks: { storage: 'warning' } }])
    expect(server.stderr()).toMatch(/"level":50.*large files can neither be read nor sent/)

    way.decide(() => undefined)
    expect((await client.download('/large.bin')).equals(LARGE)).toBe(true)
    await client.upload('/new.bin', bytesOf(100_000, 3))
    const storage = async () =>
      ((await (await fetch(`${server.url}/readyz`)).json()) as { checks: { storage: string } }).checks.storage
    await expect.poll(storage).toBe('ok')
    expect(await server.end()).toBe(0)
  },
)
