import {
  appendFileSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
  closeSync,
} from 'node:fs'
import { open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { makeHasher } from '../../../src/host/hasher.ts'
import { hashInline } from '../../../src/host/hash-job.ts'
import { CHUNK, hashedChunks } from '../../../src/client/sync/local/chunk-hashes.ts'
import { Unreachable } from '../../../src/client/errors.ts'
import { bytesOf, sha256Of } from '../../support/contents.ts'
import { serverOfTest } from '../../support/server.ts'
import { clientOf, makeBench, temporaryFolder, write, type Bench } from './bench.ts'
import { everything, FakeServer } from './fake-server.ts'

// Files that are worth a thread for their checksums.

const MIB = 1 << 20
const LARGE = bytesOf(20 * MIB + 11)

type Deed = (file: string) => void

/** A folder with one large file, which something happens to when a part of it has been sent. */
async function sending(deed: (bench: Bench, file: string) => void) {
  const server = new FakeServer()
  const bench = await makeBench({ server })
  write(bench.root, 'film.mkv', LARGE)
  const api = server.api.bind(server)
  /** How much of each upload arrived before it came to its end or broke off. */
  const arrived: number[] = []
  let once = true
  server.api = () => {
    const plain = api()
    async function* watched(body: AsyncIterable<Uint8Array>, signal: AbortSignal | undefined) {
      const upload = arrived.push(0) - 1
      for await (const chunk of body) {
        arrived[upload]! += chunk.length
        if (once && arrived[upload]! > 5 * MIB) {
          once = false
          deed(bench, join(bench.root, 'film.mkv'))
        }
        signal?.throwIfAborted()
        yield chunk
      }
    }
    return {
      ...plain,
      send: (action, params, body, size, options) =>
        plain.send(action, params, body instanceof Uint8Array ? body : watched(body, options?.signal), size, options),
    }
  }
  return { ...bench, arrived }
}

function overwrite(file: string, at: number): void {
  const fd = openSync(file, 'r+')
  writeSync(fd, Buffer.from('something else'), 0, 14, at)
  closeSync(fd)
}

const deeds: [string, Deed][] = [
  ['changed where it was sent already', (file) => overwrite(file, 10)],
  ['changed where it was not sent yet', (file) => overwrite(file, 15 * MIB)],
  ['truncated', (file) => truncateSync(file, 12 * MIB)],
  ['grown', (file) => appendFileSync(file, 'and more')],
  ['replaced', (file) => (writeFileSync(`${file}.new`, bytesOf(LARGE.length, 2)), renameSync(`${file}.new`, file))],
]

for (const [what, deed] of deeds) {
  test(`a large file that is ${what} while it is sent is not stored half-new`, async () => {
    const { root, server, sync, arrived } = await sending((_, file) => deed(file))
    await sync()
    expect(arrived[0]).toBeLessThan(LARGE.length)
    await sync()
    const now = readFileSync(join(root, 'film.mkv'))
    expect(now.equals(LARGE)).toBe(false)
    expect(sha256Of(server.files.get('/film.mkv')!.content)).toBe(sha256Of(now))
  })
}

test('the same holds for a large file that is known, and was read before it is sent', async () => {
  const { root, server, sync, arrived } = await sending((_, file) => overwrite(file, 15 * MIB))
  server.put('/film.mkv', LARGE)
  await sync()
  write(root, 'film.mkv', bytesOf(LARGE.length, 3))
  await sync()
  await sync()
  expect(arrived[0]).toBeLessThan(LARGE.length)
  expect(sha256Of(server.files.get('/film.mkv')!.content)).toBe(sha256Of(readFileSync(join(root, 'film.mkv'))))
})

test('an aborted upload ends at once and leaves no thread', async () => {
  const threads = () => readdirSync('/proc/self/task').length
  const warm = await sending(() => undefined)
  await warm.sync()
  const before = threads()
  const aborted = new AbortController()
  const { server, sync, arrived } = await sending(() => aborted.abort(new Error('That is enough.')))
  await expect(sync({ signal: aborted.signal })).rejects.toThrow('That is enough.')
  expect(arrived).toHaveLength(1)
  expect(arrived[0]).toBeLessThan(LARGE.length)
  expect(server.files.has('/film.mkv')).toBe(false)
  await expect.poll(threads).toBeLessThanOrEqual(before)
})

test('what is sent is what the server stores, with the same checksum, and comes back so', async () => {
  const server = await serverOfTest()
  const account = await server.account()
  const one = await clientOf(account, server.url)
  const other = await clientOf(await account.another(), server.url, { device: 'Desktop' })
  const sizes = [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 5 * CHUNK, 16 * MIB - 1, 16 * MIB, 16 * MIB + 1, 20 * MIB + 3]
  for (const size of sizes) write(one.root, `${size}.bin`, bytesOf(size, size))
  expect(await one.sync()).toMatchObject({ in_sync: true, uploaded: { files: sizes.length } })
  expect(await other.sync()).toMatchObject({ in_sync: true, downloaded: { files: sizes.length } })
  for (const size of sizes)
    expect(sha256Of(readFileSync(join(other.root, `${size}.bin`)))).toBe(sha256Of(bytesOf(size, size)))
})

test('a large download with another content is found, and nothing takes its place', async () => {
  const server = new FakeServer()
  const { root, sync } = await makeBench({ server })
  server.put('/film.mkv', LARGE)
  const wrong = Buffer.from(LARGE)
  wrong[18 * MIB]! ^= 1
  server.mischief = (action) => (action === 'download' ? { status: 200, headers: {}, body: [wrong] } : undefined)
  await sync().catch(() => undefined)
  expect(readdirSync(root)).toEqual(['.svc'])
  server.mischief = undefined
  expect(await sync()).toMatchObject({ in_sync: true })
  expect(readFileSync(join(root, 'film.mkv')).equals(LARGE)).toBe(true)
})

test('a large download that breaks off goes on behind the last byte that came', async () => {
  const server = new FakeServer()
  server.features = everything
  const { root, sync } = await makeBench({ server })
  server.put('/film.mkv', LARGE)
  const came = 9 * MIB + 5
  server.mischief = (action) =>
    action === 'download'
      ? {
          status: 200,
          headers: {},
          body: (async function* () {
            for (let at = 0; at < came; at += 70_000) yield LARGE.subarray(at, Math.min(came, at + 70_000))
            await Promise.resolve()
            throw new Unreachable('The connection broke off.')
          })(),
        }
      : undefined
  await expect(sync()).rejects.toThrow('broke off')
  const [part] = readdirSync(join(root, '.svc', 'tmp'))
  const kept = readFileSync(join(root, '.svc', 'tmp', part!))
  expect(kept.length).toBeGreaterThanOrEqual(came)
  expect(kept.subarray(0, came).equals(LARGE.subarray(0, came))).toBe(true)
  server.mischief = undefined
  expect(await sync()).toMatchObject({ in_sync: true })
  expect(readFileSync(join(root, 'film.mkv')).equals(LARGE)).toBe(true)
})

describe('reading in chunks', () => {
  const sizes = [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 4 * CHUNK, 9 * CHUNK + 13]

  for (const where of ['here', 'on a thread'] as const) {
    test.each(sizes)(`%i bytes are hashed ${where} as they are yielded, and two chunks may be held`, async (size) => {
      const hasher = makeHasher()
      onTestFinished(() => hasher.close())
      const content = bytesOf(size)
      const path = join(temporaryFolder(), 'file')
      await writeFile(path, content)
      utimesSync(path, 1, 1)
      const file = await open(path)
      onTestFinished(() => file.close())
      const job = where === 'here' ? hashInline() : hasher.start()
      const held: Buffer[] = []
      const read: Buffer[] = []
      for await (const chunk of hashedChunks(file, size, job)) {
        if (held.push(chunk) > 2) read.push(Buffer.from(held.shift()!))
        // Time enough for whoever would write where something is still held.
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
      read.push(...held)
      expect(Buffer.concat(read).equals(content)).toBe(true)
      expect(await job.digest()).toBe(sha256Of(content))
    })
  }
})
