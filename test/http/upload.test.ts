import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { syncFiles } from '../../src/contract/sync-files.ts'
import { INLINE_MAX } from '../../src/storage/contents/contents.ts'
import { blobsOf, bytesOf, chunked, sha256Of, temporaryFilesOf } from '../support/contents.ts'
import { openRaw, rawHead, readRaw } from '../support/raw.ts'
import { serverOfTest, serverOfFile, type TestServer } from '../support/server.ts'

const { mkdir, upload } = syncFiles.actions

const server = await serverOfFile()

const MIB = 1 << 20

/** What a tree, its usage, its feed and its history amount to, and the temporary files. */
async function amountsOf({ database, dataDir }: TestServer) {
  const { rows } = await sql`select (select count(*) from nodes) as nodes, (select sum(version) from nodes) as changes,
    (select count(*) from contents) as contents, (select count(*) from versions) as versions,
    (select sum(seq) from counters) as seq, (select sum(used_bytes) from counters) as used`.execute(database.read.q)
  return [rows, await temporaryFilesOf(dataDir)]
}

/** Something that is refused must leave the tree, the usage and the temporary folder as they were. */
async function leavingNothing(on: TestServer, what: () => Promise<void>): Promise<void> {
  const before = await amountsOf(on)
  await what()
  expect(await amountsOf(on)).toEqual(before)
}

const form = (content: Uint8Array | string, fields: Record<string, string> = {}, name = 'file'): FormData => {
  const data = new FormData()
  for (const [field, value] of Object.entries(fields)) data.append(field, value)
  data.append(name, new Blob([content]), 'x.txt')
  return data
}

describe('an upload', () => {
  const sizes = [0, 1, 100, INLINE_MAX - 1, INLINE_MAX, INLINE_MAX + 1, MIB, 6 * MIB + 1, 9 * MIB]

  test.each(sizes)('of %i bytes comes back byte for byte, however it was sent', async (size) => {
    const account = await server.account()
    const content = bytesOf(size, size + 1)
    const sha256 = sha256Of(content)
    const ways = [
      ['raw', content],
      ['in chunks', chunked(content, 50_000)],
      ['as a form', form(content)],
    ] as const
    let cursor = 0
    for (const [way, body] of ways) {
      const path = `/deep/${way}.bin`
      const reply = await account.upload(path, body)
      cursor += cursor === 0 ? 2 : 1
      const mtime = Math.floor(server.clock.now() / 1_000)
      expect([reply.status, reply.json]).toEqual([200, { ok: true, path, size, sha256, mtime, version: 1, cursor }])
      const back = await account.download(path)
      expect([back.status, back.bytes.length, sha256Of(back.bytes)]).toEqual([200, size, sha256])
    }
    const { files, directories } = await account.manifest()
    expect(directories).toEqual(['/deep'])
    expect(files).toEqual(
      ways.map(([way]) => ({ path: `/deep/${way}.bin`, size, sha256, mtime: expect.any(Number) as number })),
    )
    // Large ones are blobs, once; small ones are rows.
    expect((await blobsOf(server.dataDir)).includes(sha256)).toBe(size > INLINE_MAX)
    expect(await temporaryFilesOf(server.dataDir)).toEqual([])
  })

  test.each(['application/json', 'text/plain', 'application/x-www-form-urlencoded', 'image/png'])(
    'is taken as it comes, whatever it calls itself: %s',
    async (type) => {
      const account = await server.account()
      const content = '{"ok": fal'
      await account.put('/x', content, {}, { 'content-type': type })
      expect((await account.download('/x')).bytes.toString()).toBe(content)
    },
  )

  test('replaces what was there and keeps it as a version', async () => {
    const account = await server.account()
    const first = await account.put('/a.txt', 'first')
    const second = await account.put('/a.txt', 'second')
    expect([first, second]).toMatchObject([
      { version: 1, cursor: 1 },
      { version: 2, cursor: 2, size: 6 },
    ])
    const versions = await server.database.read.q
      .selectFrom('versions')
      .selectAll()
      .where('user_id', '=', account.id)
      .execute()
    expect(versions).toMatchObject([
      { sha256: sha256Of('first'), size: 5, version: 1, replaced_at: server.clock.now() },
    ])
    expect((await account.manifest()).files).toHaveLength(1)
  })

  test('of what is there already changes nothing, unless it says another time', async () => {
    const account = await server.account()
    await account.put('/a.txt', 'same', { mtime: 1_000 })
    await leavingNothing(server, async () => {
      expect(await account.put('/a.txt', 'same')).toMatchObject({ version: 1, cursor: 1, mtime: 1_000 })
      expect(await account.put('/a.txt', 'same', { mtime: 1_000 })).toMatchObject({ version: 1, cursor: 1 })
    })
    expect(await account.put('/a.txt', 'same', { mtime: 2_000 })).toMatchObject({ version: 2, cursor: 2, mtime: 2_000 })
    const versions = await server.database.read.q
      .selectFrom('versions')
      .selectAll()
      .where('user_id', '=', account.id)
      .execute()
    expect(versions).toEqual([])
  })

  test('cannot put a file where a folder is, nor a folder where a file is', async () => {
    const account = await server.account()
    await account.put('/folder/file.txt', 'x')
    await leavingNothing(server, async () => {
      for (const path of ['/folder', '/folder/file.txt/below.txt', '/folder/file.txt/a/b']) {
        const reply = await account.upload(path, 'y')
        expect([path, reply.status, reply.json['code']]).toEqual([path, 409, 'exists'])
      }
    })
  })

  test('belongs to its user: the same path is another file for somebody else', async () => {
    const [account, stranger] = [await server.account(), await server.account()]
    await account.put('/x.txt', 'mine')
    expect((await stranger.download('/x.txt')).status).toBe(404)
    await stranger.put('/x.txt', 'theirs')
    expect((await account.download('/x.txt')).bytes.toString()).toBe('mine')
    expect((await stranger.manifest()).files).toMatchObject([{ path: '/x.txt', sha256: sha256Of('theirs') }])
  })
})

describe('the time of a file', () => {
  test.each([0, 1, 1_700_000_000, 99_999_999_999])('is kept: %i', async (mtime) => {
    const account = await server.account()
    expect(await account.put('/a', 'x', { mtime })).toMatchObject({ mtime })
    expect((await account.manifest()).files).toMatchObject([{ mtime }])
    expect((await account.download('/a')).headers.get('x-file-mtime')).toBe(String(mtime))
  })

  test('may stand in the form, where the query says none', async () => {
    const account = await server.account()
    expect((await account.upload('/a', form('x', { mtime: '1700000000' }))).json).toMatchObject({
      mtime: 1_700_000_000,
    })
    expect((await account.upload('/b', form('x', { mtime: '5' }), { mtime: 7 })).json).toMatchObject({ mtime: 7 })
    const after = new FormData()
    after.append('file', new Blob(['x']), 'x')
    after.append('mtime', '9')
    expect((await account.upload('/c', after)).json).toMatchObject({ mtime: 9 })
  })

  test.each(['-1', '1.5', 'x', '', '100000000000', '1e9'])('is refused when it is none: %j', async (mtime) => {
    const account = await server.account()
    await leavingNothing(server, async () => {
      for (const reply of [
        await account.upload('/a', 'x', { mtime }),
        await account.upload('/a', form('x', { mtime })),
      ]) {
        expect([reply.status, reply.json['code']]).toEqual([400, 'bad_request'])
      }
    })
  })
})

describe('a form', () => {
  const twoFiles = () => {
    const data = form('a')
    data.append('file', new Blob(['b']), 'b.txt')
    return data
  }

  test.each([
    [
      'without a file',
      () => {
        const data = new FormData()
        data.append('mtime', '5')
        return data
      },
    ],
    ['that calls its file otherwise', () => form('x', {}, 'upload')],
    ['with two files', twoFiles],
    [
      'whose file is a text',
      () => {
        const data = new FormData()
        data.append('file', 'x')
        return data
      },
    ],
  ])('%s is refused', async (_, make) => {
    const account = await server.account()
    await leavingNothing(server, async () => {
      const reply = await account.upload('/a', make())
      expect([reply.status, reply.json['code']]).toEqual([400, 'bad_request'])
    })
    expect(await account.put('/a', 'still works')).toMatchObject({ version: 1 })
  })

  test.each([
    ['no boundary', 'multipart/form-data', 'x'],
    ['nothing inside', 'multipart/form-data; boundary=x', ''],
    [
      'another boundary',
      'multipart/form-data; boundary=y',
      '--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nhello\r\n--x--\r\n',
    ],
    [
      'no end',
      'multipart/form-data; boundary=x',
      '--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nhello',
    ],
    ['an end in the middle of a header', 'multipart/form-data; boundary=x', '--x\r\ncontent-dispo'],
  ])('that is broken off or garbled (%s) is refused', async (_, type, body) => {
    const account = await server.account()
    await leavingNothing(server, async () => {
      const reply = await account.upload('/a', Buffer.from(body), {}, { 'content-type': type })
      expect([reply.status, reply.json['code']]).toEqual([400, 'bad_request'])
    })
  })

  test('cannot name another path than the query', async () => {
    const account = await server.account()
    expect((await account.upload('/a', form('x', { path: '/b', action: 'delete' }))).json).toMatchObject({ path: '/a' })
    expect((await account.manifest()).files.map(({ path }) => path)).toEqual(['/a'])
  })
})

describe('a content that is not what was announced', () => {
  const contents = [
    ['small', Buffer.from('hello')],
    ['large', bytesOf(INLINE_MAX + 10)],
  ] as const

  test.each(contents)('is refused by its checksum, and nothing is stored (%s)', async (_, content) => {
    const account = await server.account()
    await account.put('/a', 'before')
    await leavingNothing(server, async () => {
      for (const body of [content, chunked(content, 10_000), form(content)]) {
        const reply = await account.upload('/a', body, {}, { 'x-file-sha256': sha256Of('something else') })
        expect([reply.status, reply.json['code']]).toEqual([422, 'checksum_mismatch'])
      }
    })
    expect((await account.download('/a')).bytes.toString()).toBe('before')
    const right = await account.upload('/a', content, {}, { 'x-file-sha256': sha256Of(content).toUpperCase() })
    expect(right.json).toMatchObject({ sha256: sha256Of(content), version: 2 })
  })

  test.each(['', 'x', 'a'.repeat(63), `${'a'.repeat(64)} `.repeat(2)])(
    'cannot be announced by what is no checksum: %j',
    async (checksum) => {
      const account = await server.account()
      await leavingNothing(server, async () => {
        const reply = await account.upload('/a', 'x', {}, { 'x-file-sha256': checksum })
        expect([reply.status, reply.json['code']]).toEqual([400, 'bad_request'])
      })
    },
  )

  const target = `${upload.path}?action=upload&path=/a`

  test.each([
    ['small', 100, 10],
    ['large', 3 * MIB, MIB + 5],
  ])('is refused when it ends before its length (%s)', async (_, length, sent) => {
    const account = await server.account()
    await leavingNothing(server, async () => {
      const raw = await openRaw(server.url)
      raw.write(rawHead('POST', target, { authorization: `Bearer ${account.token}`, 'content-length': length }))
      raw.write(bytesOf(sent))
      raw.end()
      const { status } = readRaw(await raw.answer())
      expect([0, 400, 422]).toContain(status)
      await expect.poll(() => temporaryFilesOf(server.dataDir)).toEqual([])
    })
    expect((await account.manifest()).files).toEqual([])
  })

  test.each([
    ['small', 10],
    ['large', 2 * MIB],
  ])('leaves nothing when its client hangs up in the middle (%s)', async (_, sent) => {
    const account = await server.account()
    await leavingNothing(server, async () => {
      for (const headers of [{ 'content-length': 3 * MIB }, { 'transfer-encoding': 'chunked' }]) {
        const raw = await openRaw(server.url)
        raw.write(rawHead('POST', target, { authorization: `Bearer ${account.token}`, ...headers }))
        const bytes = bytesOf(sent)
        if ('content-length' in headers) raw.write(bytes)
        else raw.write(Buffer.concat([Buffer.from(`${sent.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]))
        if (sent > INLINE_MAX) await expect.poll(() => temporaryFilesOf(server.dataDir)).toHaveLength(1)
        raw.hangUp()
        await expect.poll(() => temporaryFilesOf(server.dataDir)).toEqual([])
      }
    })
    expect((await account.manifest()).files).toEqual([])
    expect(await account.put('/a', 'later')).toMatchObject({ version: 1 })
  })

  test('is not the beginning of another request', async () => {
    const account = await server.account()
    const raw = await openRaw(server.url)
    const headers = { authorization: `Bearer ${account.token}`, 'content-length': 5 }
    raw.write(rawHead('POST', target, headers))
    raw.write(`hello${rawHead('GET', '/healthz', { connection: 'close' })}`)
    const answer = await raw.answer()
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200'])
    expect((await account.download('/a')).bytes.toString()).toBe('hello')
  })

  test('in chunks with a length beside them is no HTTP', async () => {
    const account = await server.account()
    await leavingNothing(server, async () => {
      const raw = await openRaw(server.url)
      raw.write(
        rawHead('POST', target, {
          authorization: `Bearer ${account.token}`,
          'content-length': 5,
          'transfer-encoding': 'chunked',
        }),
      )
      raw.write('5\r\nhello\r\n0\r\n\r\n')
      const { status, body } = readRaw(await raw.answer())
      expect([status, JSON.parse(body)]).toMatchObject([400, { ok: false, code: 'bad_request' }])
    })
  })
})

describe('a condition', () => {
  const hash = sha256Of('there')
  const other = sha256Of('other')

  test.each([
    ['If-Match', {}, { 'if-match': `"${hash}"` }],
    ['if_sha256', { if_sha256: hash }, {}],
  ])('%s lets an upload pass when the file is that one', async (_, query, headers) => {
    const account = await server.account()
    await account.put('/a', 'there')
    expect(await account.put('/a', 'new', query, headers)).toMatchObject({ version: 2 })
  })

  test.each([
    ['If-None-Match: *', {}, { 'if-none-match': '*' }],
    ['if_absent', { if_absent: true }, {}],
  ])('%s lets an upload pass when there is no file', async (_, query, headers) => {
    const account = await server.account()
    expect(await account.put('/new/a', 'new', query, headers)).toMatchObject({ version: 1 })
  })

  test.each([
    ['another content is there', 'there', { if_sha256: other }, {}],
    ['another content is there', 'there', {}, { 'if-match': `"${other}"` }],
    ['nothing is there', undefined, { if_sha256: hash }, {}],
    ['nothing is there', undefined, {}, { 'if-match': `"${hash}"` }],
    ['something is there', 'there', { if_absent: true }, {}],
    ['something is there', 'there', { if_absent: 1 }, {}],
    ['something is there', 'there', {}, { 'if-none-match': '*' }],
  ])('stops an upload when %s, and says what is', async (_, content, query, headers) => {
    const account = await server.account()
    if (content !== undefined) await account.put('/a', content, { mtime: 5 })
    await leavingNothing(server, async () => {
      const reply = await account.upload('/a', 'new', query, headers)
      const current = content === undefined ? null : { sha256: hash, size: 5, mtime: 5, version: 1 }
      expect([reply.status, reply.json]).toMatchObject([412, { code: 'precondition_failed' }])
      expect(reply.json['current']).toEqual(current)
    })
  })

  test('may stand in the form', async () => {
    const account = await server.account()
    await account.put('/a', 'there')
    expect((await account.upload('/a', form('new', { if_absent: 'true' }))).status).toBe(412)
    expect((await account.upload('/a', form('new', { if_sha256: other }))).status).toBe(412)
    expect((await account.upload('/a', form('new', { if_sha256: hash }))).json).toMatchObject({ version: 2 })
  })

  test.each([
    [{ if_sha256: 'x' }, {}],
    [{ if_sha256: hash.toUpperCase() }, {}],
    [{ if_absent: 'maybe' }, {}],
    [{}, { 'if-match': hash }],
    [{}, { 'if-match': '*' }],
    [{}, { 'if-match': `"${hash}", "${other}"` }],
    [{}, { 'if-match': `W/"${hash}"` }],
    [{}, { 'if-none-match': `"${hash}"` }],
  ])('that cannot be understood is never taken for none: %j %j', async (query, headers) => {
    const account = await server.account()
    await leavingNothing(server, async () => {
      const reply = await account.upload('/a', 'new', query, headers as Record<string, string>)
      expect([reply.status, reply.json['code']]).toEqual([400, 'bad_request'])
    })
  })

  test.each([
    ['small', 100],
    ['large', INLINE_MAX + 100],
  ])('lets exactly one of many uploads pass at the same moment (%s)', async (_, size) => {
    const account = await server.account()
    await account.put('/a', 'there')
    const contents = Array.from({ length: 8 }, (_each, index) => bytesOf(size, index + 1))
    const replies = await Promise.all(
      contents.map((content) => account.upload('/a', content, {}, { 'if-match': `"${hash}"` })),
    )
    expect(replies.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(7).fill(412)])
    const winner = sha256Of(contents[replies.findIndex(({ status }) => status === 200)]!)
    expect((await account.manifest()).files).toMatchObject([{ sha256: winner }])
    const losers = replies
      .filter(({ status }) => status === 412)
      .map(({ json }) => (json['current'] as { sha256: string }).sha256)
    expect(new Set(losers)).toEqual(new Set([winner]))
    expect((await account.delta(1)).cursor).toBe(2)
  })

  test('lets exactly one of many uploads make a file', async () => {
    const account = await server.account()
    const replies = await Promise.all(
      Array.from({ length: 8 }, (_each, index) =>
        account.upload('/new/a', `content ${index}`, {}, { 'if-none-match': '*' }),
      ),
    )
    expect(replies.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(7).fill(412)])
    expect((await account.delta(0)).changes).toHaveLength(2)
  })
})

describe('the quota', () => {
  const used = async (userId: number) => {
    const rows = await server.database.read.q
      .selectFrom('counters')
      .select('used_bytes')
      .where('user_id', '=', userId)
      .execute()
    return rows[0]!.used_bytes
  }

  test.each([
    ['with a length', (content: Buffer) => content],
    ['in chunks', (content: Buffer) => chunked(content, 10_000)],
    ['as a form', (content: Buffer) => form(content)],
  ])('can be used up to its last byte, and not beyond (%s)', async (_, sent) => {
    const account = await server.account({ quota: 200_000 })
    await account.put('/a', bytesOf(100_000))
    const before = await account.manifest()
    for (const size of [100_001, 150_000]) {
      const over = await account.upload('/b', sent(bytesOf(size)))
      expect([over.status, over.json['code']]).toEqual([413, 'quota_exceeded'])
    }
    expect([await account.manifest(), await used(account.id)]).toEqual([before, 100_000])
    expect((await account.upload('/b', sent(bytesOf(100_000)))).status).toBe(200)
    expect(await used(account.id)).toBe(200_000)
    expect((await account.upload('/c', sent(bytesOf(1)))).status).toBe(413)
    expect((await account.upload('/empty', sent(bytesOf(0)))).status).toBe(200)
    expect((await account.manifest()).files.map(({ path }) => path)).toEqual(['/a', '/b', '/empty'])
  })

  test('counts of a file that is replaced what it grows by', async () => {
    const account = await server.account({ quota: 1_000 })
    await account.put('/a', bytesOf(900))
    expect((await account.upload('/a', bytesOf(1_001, 2))).status).toBe(413)
    expect((await account.upload('/a', bytesOf(1_000, 3))).status).toBe(200)
    expect((await account.upload('/a', bytesOf(1_000, 4))).status).toBe(200)
    expect((await account.upload('/a', bytesOf(10, 5))).status).toBe(200)
    expect(await used(account.id)).toBe(10)
    expect((await account.upload('/b', bytesOf(990))).status).toBe(200)
  })

  test('lets somebody who is over it make files smaller, and nothing else', async () => {
    const account = await server.account({ quota: 1_000 })
    await account.put('/a', bytesOf(1_000))
    await server.database.write('instance', (tx) =>
      tx.q.updateTable('users').set({ quota_bytes: 500 }).where('id', '=', account.id).execute(),
    )
    expect((await account.upload('/b', bytesOf(1))).status).toBe(413)
    expect((await account.upload('/a', bytesOf(1_000, 2))).status).toBe(200)
    expect((await account.upload('/a', bytesOf(999, 3))).status).toBe(200)
    expect((await account.upload('/a', bytesOf(1_000, 3))).status).toBe(413)
    expect(await used(account.id)).toBe(999)
  })

  test('counts what is deleted no more', async () => {
    const account = await server.account({ quota: 1_000 })
    await account.put('/d/a', bytesOf(400))
    await account.put('/d/e/b', bytesOf(600))
    await account.ask(syncFiles.actions.delete, { path: '/d/e' })
    expect(await used(account.id)).toBe(400)
    await account.ask(syncFiles.actions.delete, { path: '/d' })
    expect(await used(account.id)).toBe(0)
    expect((await account.upload('/d', bytesOf(1_000))).status).toBe(200)
  })

  test.each([
    ['small', 1_000],
    ['large', INLINE_MAX + 1],
  ])('cannot be passed by many uploads at once (%s)', async (_, size) => {
    const account = await server.account({ quota: 3 * size + 1 })
    const uploads = Array.from({ length: 10 }, (_each, index) =>
      account.upload(`/${index}`, chunked(bytesOf(size, index + 1), size)),
    )
    const replies = await Promise.all(uploads)
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 200, 200, ...Array<number>(7).fill(413)])
    expect(await used(account.id)).toBe(3 * size)
    expect((await account.manifest()).files).toHaveLength(3)
  })

  test('of none at all takes empty files only', async () => {
    const account = await server.account({ quota: 0 })
    expect((await account.upload('/a', 'x')).status).toBe(413)
    expect((await account.upload('/a', '')).status).toBe(200)
    expect(await account.ask(mkdir, { path: '/folder' })).toMatchObject({ created: true })
  })

  test('of everybody holds for whom has none of their own', async () => {
    const own = await serverOfTest()
    await own.set('quota.default', 100)
    const [account, rich] = [await own.account(), await own.account({ quota: -1 })]
    expect((await account.upload('/a', bytesOf(101))).status).toBe(413)
    expect((await rich.upload('/a', bytesOf(101))).status).toBe(200)
    expect((await account.upload('/a', bytesOf(100))).status).toBe(200)
  })
})

describe('the largest file', () => {
  test.each([
    ['that fits a row', 1_000],
    ['that does not', 2 * MIB],
  ])('is a setting, and a larger one is refused while it arrives (%s)', async (_, max) => {
    const own = await serverOfTest()
    await own.set('files.max_size', max)
    const account = await own.account()
    await leavingNothing(own, async () => {
      for (const body of [
        bytesOf(max + 1),
        chunked(bytesOf(max + 1), 100_000),
        form(bytesOf(max + 1)),
        chunked(bytesOf(max + 6 * MIB), 100_000),
      ]) {
        const reply = await account.upload('/a', body)
        expect([reply.status, reply.json['code']]).toEqual([413, 'too_large'])
      }
    })
    for (const [index, body] of [bytesOf(max), chunked(bytesOf(max), 100_000), form(bytesOf(max))].entries()) {
      expect((await account.upload(`/${index}`, body)).status).toBe(200)
    }
  })

  test.each([
    ['too_large', { max: 1_000 }],
    ['quota_exceeded', { quota: 1_000 }],
  ])(
    'is refused before it is sent, when its length says so: %s',
    async (code, { max, quota }: { max?: number; quota?: number }) => {
      const own = await serverOfTest()
      if (max !== undefined) await own.set('files.max_size', max)
      const account = await own.account(quota === undefined ? {} : { quota })
      const raw = await openRaw(own.url)
      const headers = { authorization: `Bearer ${account.token}`, 'content-length': 10 ** 9 }
      raw.write(rawHead('POST', `${upload.path}?action=upload&path=/a`, headers))
      const answer = await raw.until('"code"')
      raw.hangUp()
      expect(readRaw(answer)).toMatchObject({
        status: 413,
        body: expect.stringContaining(`"code":"${code}"`) as string,
      })
    },
  )

  test('is refused in the middle of it, and the client may say the rest and go on', async () => {
    const own = await serverOfTest()
    await own.set('files.max_size', 2 * MIB)
    const account = await own.account()
    const raw = await openRaw(own.url)
    const headers = { authorization: `Bearer ${account.token}`, 'transfer-encoding': 'chunked' }
    raw.write(rawHead('POST', `${upload.path}?action=upload&path=/a`, headers))
    const chunk = Buffer.concat([Buffer.from('100000\r\n'), bytesOf(MIB), Buffer.from('\r\n')])
    for (let count = 0; count < 3; count += 1) raw.write(chunk)
    expect(readRaw(await raw.until('"code"')).status).toBe(413)
    for (let count = 0; count < 12; count += 1) raw.write(chunk)
    raw.write(`0\r\n\r\n${rawHead('GET', '/healthz', { connection: 'close' })}`)
    expect((await raw.answer()).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200'])
  })
})

test('uploads of the same content at once are all stored, its bytes once', async () => {
  const account = await server.account()
  const content = bytesOf(INLINE_MAX + 1_234, 77)
  const replies = await Promise.all(Array.from({ length: 6 }, (_, index) => account.upload(`/${index}`, content)))
  expect(replies.map(({ status }) => status)).toEqual(Array<number>(6).fill(200))
  const sha256 = sha256Of(content)
  expect((await blobsOf(server.dataDir)).filter((blob) => blob === sha256)).toHaveLength(1)
  for (let index = 0; index < 6; index += 1) expect(sha256Of((await account.download(`/${index}`)).bytes)).toBe(sha256)
})

test('uploads to one path at once leave one of the contents, whole', async () => {
  const account = await server.account()
  const contents = Array.from({ length: 8 }, (_, index) => bytesOf(index % 2 ? 2_000 : INLINE_MAX + 2_000, index + 1))
  const replies = await Promise.all(contents.map((content) => account.upload('/a', content)))
  expect(replies.map(({ status }) => status)).toEqual(Array<number>(8).fill(200))
  expect(replies.map(({ json }) => json['version']).sort()).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  const last = replies.findIndex(({ json }) => json['version'] === 8)
  expect(sha256Of((await account.download('/a')).bytes)).toBe(sha256Of(contents[last]!))
})
