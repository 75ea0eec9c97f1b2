import { once } from 'node:events'
import { readFile, stat } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { inspect } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Busy, DiskFull } from '../../src/base/errors.ts'
import type { BlobStore } from '../../src/storage/contents/blobs/blobs.ts'
import { parseS3Location } from '../../src/storage/contents/blobs/s3-location.ts'
import { ConnectionLost, fromS3Error } from '../../src/storage/contents/blobs/s3-errors.ts'
import { makeRequests } from '../../src/storage/contents/blobs/s3-request.ts'
import { defaults, openS3, type S3Tuning } from '../../src/storage/contents/blobs/s3.ts'
import { bytesOf, chunked, filesBelow, sha256Of } from '../support/contents.ts'
import { s3Keys, s3OfFile } from '../support/s3.ts'
import { lineOfTest, type Asked, type Fate } from '../support/s3-line.ts'
import { given, signatureOf } from '../support/s3-signature.ts'
import { folderOfTest } from '../support/server.ts'

const MIB = 1 << 20
const server = s3OfFile()

async function world(tuning: Partial<S3Tuning> = {}) {
  const bucket = await server.bucket()
  const line = await lineOfTest(bucket.endpoint)
  const scratch = await folderOfTest()
  const place = bucket.place({ endpoint: line.url })
  const store = await openS3(place, scratch, { tries: 4, pause: 2, ...tuning })
  onTestFinished(() => store.close())
  return { bucket, line, place, scratch, store, put: (content: Uint8Array) => store.put(source(content), Infinity) }
}

const source = (content: Uint8Array) => chunked(content, 100_000) as unknown as AsyncIterable<Uint8Array>

async function bytes(store: BlobStore, sha256: string, range?: { start: number; end: number }): Promise<Buffer> {
  return Buffer.concat((await store.read(sha256, range).toArray()) as Buffer[])
}

const keyOf = (sha256: string) => `${sha256.slice(0, 2)}/${sha256.slice(2, 4)}/${sha256}`

/** The first so many requests of a kind meet a fate. */
function first(count: number, isMeant: (asked: Asked) => boolean, fate: Fate): (asked: Asked) => Fate | undefined {
  let met = 0
  return (asked) => (isMeant(asked) && (met += 1) <= count ? fate : undefined)
}

const by =
  (method: string, part = '') =>
  (asked: Asked) =>
    asked.method === method && asked.url.includes(part)

describe('a connection to an S3 store that breaks', () => {
  test('in the middle of reading goes on from there, with the same object', async () => {
    const { line, store, put } = await world()
    const content = bytesOf(3 * MIB)
    const { sha256 } = await put(content)
    line.asked.length = 0
    line.decide(first(2, by('GET'), { cutAnswerAfter: 700_001 }))
    expect((await bytes(store, sha256)).equals(content)).toBe(true)
    const [whole, ...rest] = line.asked.map(({ headers }) => headers)
    expect([whole!.range, whole!['if-match'], rest.length]).toEqual([undefined, undefined, 2])
    for (const { range, 'if-match': etag } of rest) {
      expect(range).toMatch(/^bytes=[1-9]\d+-3145727$/)
      expect(etag).toMatch(/^"\w+"$/)
    }
  })

  test('in the middle of a part of it goes on to the end of that part', async () => {
    const { line, store, put } = await world()
    const content = bytesOf(2 * MIB)
    const { sha256 } = await put(content)
    line.decide(first(3, by('GET'), { cutAnswerAfter: 300_000 }))
    const range = { start: 17, end: 1_500_000 }
    expect((await bytes(store, sha256, range)).equals(content.subarray(17, 1_500_001))).toBe(true)
  })

  test('without a byte each time fails, and says that it helps to try again', async () => {
    const { line, store, put } = await world()
    const { sha256 } = await put(bytesOf(MIB))
    line.asked.length = 0
    line.decide(({ method }) => (method === 'GET' ? { cutAnswerAfter: 0 } : undefined))
    await expect(bytes(store, sha256)).rejects.toThrow(Busy)
    expect(line.asked.length).toBeLessThan(30)
    const file = join(await folderOfTest(), 'saved')
    await expect(store.save(sha256, file)).rejects.toThrow(Busy)
    await expect(stat(file)).rejects.toThrow('ENOENT')
  })

  test.each([0, 1_000_000])('after %i bytes of sending sends from the beginning', async (cutAfter) => {
    const { line, store, put, scratch } = await world()
    const content = bytesOf(3 * MIB)
    line.decide(first(2, by('PUT'), { cutAfter }))
    const { sha256 } = await put(content)
    expect(line.asked.filter(by('PUT'))).toHaveLength(3)
    expect((await bytes(store, sha256)).equals(content)).toBe(true)
    expect(await filesBelow(scratch)).toEqual([])
  })

  test('before any answer is tried again, and given up at last', async () => {
    const { line, put, bucket, scratch } = await world()
    line.decide(({ method }) => (method === 'PUT' ? { cutAfter: 0 } : undefined))
    const failure = await put(bytesOf(1_000)).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(Busy)
    expect((failure as Error).message).toContain('The connection to the store')
    expect(line.asked.filter(by('PUT'))).toHaveLength(4)
    expect([await bucket.objects(), await filesBelow(scratch)]).toEqual([[], []])
  })

  test('is given up when nothing comes any more', async () => {
    const { line, store } = await world({ silence: 500, tries: 2 })
    line.decide(() => ({ silence: true }))
    await expect(store.size(sha256Of('any'))).rejects.toThrow(/is silent/)
    expect(line.asked).toHaveLength(2)
  })

  test('is tried less often than one that refuses, where each time is long', async () => {
    const { line, place } = await world()
    const requests = makeRequests(place, { silence: 500, tries: 5, silentTries: 2, pause: 2 })
    line.decide(() => ({ silence: true }))
    await expect(requests.ask({ method: 'GET' })).rejects.toThrow(/is silent/)
    expect(line.asked).toHaveLength(2)
    line.decide(() => ({ answer: { status: 503 } }))
    await expect(requests.ask({ method: 'GET' })).rejects.toThrow('Try again in a moment')
    expect(line.asked).toHaveLength(7)
    requests.close()
  })

  test('ends with the store', async () => {
    const { line, store } = await world()
    const asked = new Promise<void>((resolve) => line.decide(() => (resolve(), { silence: true })))
    const asking = store.has(sha256Of('any')).catch((error: unknown) => error)
    await asked
    await store.close()
    expect(await asking).toMatchObject({ message: 'The store is closed.' })
  })
})

describe('an S3 store that falls silent', () => {
  const SILENCE = 300
  const MIB_AND_MORE = bytesOf(2.5 * MIB)

  /** A store with short times, and how often it was asked for what since it fell silent: with `isLast`. */
  async function silent(isLast: (asked: Asked) => boolean) {
    const { silentTries, tries } = defaults
    const short = { silence: SILENCE, completion: SILENCE, single: MIB, part: MIB }
    const way = await world({ ...short, tries, ...(silentTries !== undefined && { silentTries }) })
    let isSilent = false
    const askedFor: Record<string, number> = {}
    way.line.decide((asked) => {
      isSilent ||= isLast(asked)
      if (!isSilent) return undefined
      const part = new URL(asked.url, way.line.url).searchParams.get('partNumber')
      const name = part === null ? asked.method : `${asked.method} ${part}`
      askedFor[name] = (askedFor[name] ?? 0) + 1
      return { silence: true }
    })
    return { ...way, askedFor }
  }

  test.each([
    ['is sent a content', bytesOf(1_000), by('PUT'), { PUT: 2 }],
    ['is asked for the markers of removals', bytesOf(1_000), by('GET', 'list-type'), { GET: 2 }],
    ['is asked for what it was sent', bytesOf(1_000), by('HEAD'), { HEAD: 2 }],
    ['begins an upload', MIB_AND_MORE, by('POST', 'uploads'), { POST: 2 }],
    ['is sent parts', MIB_AND_MORE, by('PUT'), { 'PUT 1': 2, 'PUT 2': 2, 'PUT 3': 2, DELETE: 1 }],
    ['joins the parts', MIB_AND_MORE, by('POST', 'uploadId'), { POST: 1, DELETE: 1 }],
  ])('while it %s is given up before more than three silences are over', async (_, content, isLast, expected) => {
    const { put, askedFor, scratch } = await silent(isLast)
    await expect(put(content)).rejects.toThrow(Busy)
    expect(askedFor).toEqual(expected)
    expect(await filesBelow(scratch)).toEqual([])
  })

  test('while it answers is given up as soon', async () => {
    const { line, store, put } = await world({ silence: SILENCE })
    const { sha256 } = await put(bytesOf(MIB))
    line.asked.length = 0
    line.decide(() => ({ silenceAfter: 0 }))
    await expect(bytes(store, sha256)).rejects.toThrow(/is silent|broke/)
    expect(line.asked).toHaveLength(2)
  })

  test('is waited for longer while it joins parts', async () => {
    const { line, put } = await world({ silence: SILENCE, completion: 20 * SILENCE, single: MIB, part: MIB })
    let joined = 0
    line.decide(async (asked) => {
      if (!by('POST', 'uploadId')(asked)) return
      joined += 1
      await new Promise((resolve) => setTimeout(resolve, 3 * SILENCE))
    })
    await put(MIB_AND_MORE)
    expect(joined).toBe(1)
  })

  test('is given up before proxies give this server up', async () => {
    const { silence, silentTries = Infinity, completion } = defaults
    const longest = Math.max(silentTries * silence, completion) + silence
    for (const [file, limit] of [
      ['templates/caddy/Caddyfile', /response_header_timeout (\d+)s/],
      ['templates/compose-cluster/Caddyfile', /response_header_timeout (\d+)s/],
      ['templates/nginx/svc.nginx.conf', /proxy_read_timeout (\d+)s/],
    ] as const) {
      const [, seconds] = limit.exec(await readFile(file, 'utf8'))!
      // Ten seconds each for the transactions before and after.
      expect.soft(longest + 20_000, file).toBeLessThan(Number(seconds) * 1_000)
    }
  })
})

describe('reading from an S3 store', () => {
  test('takes no more than is read, and ends the request with the stream', async () => {
    const { line, store, put } = await world()
    const { sha256 } = await put(bytesOf(40 * MIB))
    line.asked.length = 0
    const stream = store.read(sha256)
    await once(stream, 'readable')
    stream.destroy()
    await once(stream, 'close')
    expect(await line.asked[0]!.over).toBe(false)
    expect(line.asked).toHaveLength(1)
  })

  test('may be ended before the store has answered', async () => {
    const { line, store } = await world()
    const asked = new Promise<Asked>((resolve) => line.decide((each) => (resolve(each), { silence: true })))
    const stream = store.read(sha256Of('any')).resume()
    const { over } = await asked
    stream.destroy()
    expect(await over).toBe(false)
  })

  test('fails for what is not there as from a disk, and is empty behind the end', async () => {
    const { store, put } = await world()
    const { sha256 } = await put(bytesOf(1_000))
    await expect(bytes(store, sha256Of('never'))).rejects.toMatchObject({ code: 'ENOENT' })
    expect(await bytes(store, sha256, { start: 1_000, end: 2_000 })).toHaveLength(0)
    expect(await bytes(store, sha256, { start: 990, end: 2_000 })).toHaveLength(10)
    expect([await store.size(sha256), await store.size(sha256Of('never'))]).toEqual([1_000, undefined])
  })

  test('is no guess: another part than the one that was asked for is refused', async () => {
    const { line, store, put } = await world()
    const { sha256 } = await put(bytesOf(1_000))
    line.decide(() => ({ answer: { status: 200, headers: { 'content-length': '1000' }, body: 'x'.repeat(1_000) } }))
    await expect(bytes(store, sha256, { start: 10, end: 19 })).rejects.toThrow('does not return the requested part')
  })

  test('says so when the object is another one than before', async () => {
    const { line, store, put } = await world()
    const { sha256 } = await put(bytesOf(MIB))
    line.decide(({ headers }) =>
      headers['if-match'] ? { answer: { status: 412, code: 'PreconditionFailed' } } : { cutAnswerAfter: 300_000 },
    )
    await expect(bytes(store, sha256)).rejects.toThrow('was replaced while')
  })
})

describe('an S3 store that answers', () => {
  test.each([
    [429, 'TooManyRequests'],
    [500, 'InternalError'],
    [502, ''],
    [503, 'SlowDown'],
    [504, ''],
    [400, 'RequestTimeout'],
  ])('%i %s is asked again', async (status, code) => {
    const { line, store, put } = await world()
    line.decide(first(3, by('PUT'), { answer: { status, code } }))
    const { sha256 } = await put(bytesOf(1_000))
    line.decide(first(2, by('GET'), { answer: { status, code } }))
    expect((await bytes(store, sha256)).equals(bytesOf(1_000))).toBe(true)
  })

  test('500 for good is called busy', async () => {
    const { line, put, scratch } = await world()
    line.decide(() => ({ answer: { status: 500, code: 'InternalError' } }))
    await expect(put(bytesOf(1_000))).rejects.toThrow(Busy)
    expect([line.asked.length, await filesBelow(scratch)]).toEqual([4, []])
  })

  test('403 is not asked again', async () => {
    const { line, put, store } = await world()
    line.decide(() => ({ answer: { status: 403, code: 'AccessDenied' } }))
    await expect(put(bytesOf(1_000))).rejects.toThrow('denies access')
    await expect(store.has(sha256Of('any'))).rejects.toThrow('denies access')
    expect(line.asked).toHaveLength(2)
  })

  test.each([
    [507, ''],
    [507, 'XMinioStorageFull'],
    [403, 'QuotaExceeded'],
    [400, 'XMinioAdminBucketQuotaExceeded'],
  ])('%i %s is full', async (status, code) => {
    const { line, put, scratch } = await world()
    line.decide(() => ({ answer: { status, code } }))
    await expect(put(bytesOf(1_000))).rejects.toThrow(DiskFull)
    expect([line.asked.length, await filesBelow(scratch)]).toEqual([1, []])
  })
})

describe('the check of an S3 store says', () => {
  const refusals: [status: number, code: string, says: string, headers?: Record<string, string>][] = [
    [403, 'AccessDenied', 'give the key the rights'],
    [403, 'InvalidAccessKeyId', 'correct AWS_ACCESS_KEY_ID'],
    [403, 'SignatureDoesNotMatch', 'correct AWS_SECRET_ACCESS_KEY'],
    [403, 'RequestTimeTooSkewed', 'set the clock of this machine'],
    [400, 'ExpiredToken', 'AWS_SESSION_TOKEN'],
    [404, 'NoSuchBucket', 'There is no bucket'],
    [301, 'PermanentRedirect', 'write region=eu-west-1', { 'x-amz-bucket-region': 'eu-west-1' }],
    [400, 'AuthorizationHeaderMalformed', 'correct the region'],
    [405, 'MethodNotAllowed', 'answered 405 MethodNotAllowed'],
  ]
  test.each(refusals)('to %i %s what to do', async (status, code, says, headers = {}) => {
    const { line, store } = await world()
    line.decide(() => ({ answer: { status, code, headers } }))
    await expect(store.check()).rejects.toThrow(says)
    expect(line.asked).toHaveLength(1)
  })

  test('that something else answers there', async () => {
    const { line, store } = await world()
    line.decide(() => ({ answer: { status: 200, body: '<html><body>Welcome</body></html>' } }))
    await expect(store.check()).rejects.toThrow('is no S3 store')
  })

  test('what the server of the tests itself refuses, without the keys', async () => {
    const { bucket, scratch, store } = await world()
    await expect(store.check()).resolves.toBeUndefined()
    const keys = { accessKeyId: 'nobody', secretAccessKey: 'very-secret', sessionToken: 'very-secret-too' }
    const stranger = await openS3(parseS3Location(bucket.address(), keys), scratch)
    const failure = await stranger.check().catch((error: unknown) => error)
    expect(failure).toMatchObject({ code: 'InvalidAccessKeyId' })
    expect(inspect(failure, { depth: 9 })).not.toMatch(/very-secret|Signature=/)
    await bucket.remove()
    await expect(store.check()).rejects.toThrow('There is no bucket')
  })

  test('that nobody listens there', async () => {
    const closed = createServer().listen(0, '127.0.0.1')
    await once(closed, 'listening')
    const { port } = closed.address() as AddressInfo
    closed.close()
    await once(closed, 'close')
    const place = parseS3Location(`s3://files?endpoint=http://127.0.0.1:${port}`, s3Keys)
    const store = await openS3(place, await folderOfTest(), { tries: 2, pause: 1 })
    await expect(store.check()).rejects.toThrow(`s3://files at 127.0.0.1:${port} refuses the connection`)
  })

  test.each([
    ['ENOTFOUND', 'an unknown host'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'NODE_EXTRA_CA_CERTS'],
    ['ECONNRESET', 'broke (ECONNRESET)'],
  ])('to %s what to do', (code, says) => {
    const place = parseS3Location('s3://files', s3Keys)
    const cause = new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) })
    expect(fromS3Error(place, new ConnectionLost('The request broke off.', { cause }))).toMatchObject({
      name: 'Busy',
      message: expect.stringContaining(says) as string,
    })
  })
})

describe('requests to an S3 store', () => {
  test('are signed, with the checksum of what they send and the token of the session', async () => {
    const { bucket, line, scratch } = await world()
    const keys = { ...s3Keys, sessionToken: 'a-token' }
    const place = parseS3Location(bucket.address({ endpoint: line.url, prefix: 'svc' }), keys)
    const store = await openS3(place, scratch)
    const { sha256, size } = await store.put(source(bytesOf(1_000)), Infinity)
    const sent = line.asked.find(by('PUT'))!
    expect(sent.url).toBe(`/${place.bucket}/svc/${keyOf(sha256)}`)
    expect(sent.headers).toMatchObject({
      authorization: expect.stringMatching(/^AWS4-HMAC-SHA256 Credential=S3RVER\/\d{8}\/us-east-1\/s3\//) as string,
      'x-amz-content-sha256': sha256,
      'x-amz-security-token': 'a-token',
      'content-length': String(size),
    })
    expect(sent.headers['transfer-encoding']).toBeUndefined()
    await store.close()
  })

  test('carry the signature that their words say', async () => {
    const { bucket, line } = await world()
    const keys = { accessKeyId: 'S3RVER', secretAccessKey: 'very-secret', sessionToken: 'a+token/of=letters' }
    const place = parseS3Location(bucket.address({ endpoint: line.url, prefix: 'svc/a_b-c.d' }), keys)
    const store = await openS3(place, await folderOfTest(), { single: 100_000, part: 100_000, page: 1 })
    for (const size of [0, 1_000, 250_000]) await store.put(source(bytesOf(size)), Infinity)
    const { sha256 } = await store.put(source(bytesOf(1_000)), Infinity)
    await bytes(store, sha256, { start: 1, end: 9 })
    expect(await Readable.from(store.list()).toArray()).toHaveLength(3)
    await bucket.age(`${place.prefix}${keyOf(sha256)}`, 0)
    expect(await store.remove(sha256, Date.now())).toBe(true)
    expect(line.asked.map(({ method }) => method)).toEqual(
      expect.arrayContaining(['GET', 'HEAD', 'PUT', 'POST', 'DELETE']),
    )
    for (const asked of line.asked) expect(given(asked), asked.url).toBe(signatureOf(asked, keys.secretAccessKey))
    await store.close()
  })
})
