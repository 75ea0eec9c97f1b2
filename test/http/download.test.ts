import { describe, expect, test } from 'vitest'
import { syncFiles } from '../../src/contract/sync-files.ts'
import { INLINE_MAX } from '../../src/storage/contents/contents.ts'
import type { Account } from '../support/account.ts'
import { bytesOf, sha256Of } from '../support/contents.ts'
import { serverOfFile } from '../support/server.ts'
import { commitsSeenBy } from '../support/state.ts'

const server = await serverOfFile()

const kinds = [
  ['kept in a row', bytesOf(1_000)],
  ['kept as a blob', bytesOf(INLINE_MAX + 1_000)],
] as const

async function withFile(content: Uint8Array | string, path = '/a.bin', mtime = 1_700_000_000): Promise<Account> {
  const account = await server.account()
  await account.put(path, content, { mtime })
  return account
}

describe.each(kinds)('a download of a file %s', (_, content) => {
  const sha256 = sha256Of(content)

  test('says what it is, and lets no browser run it', async () => {
    const { download } = await withFile(content)
    const { status, headers, bytes } = await download('/a.bin')
    expect([status, sha256Of(bytes)]).toEqual([200, sha256])
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-length': String(content.length),
      'content-disposition': `attachment; filename="a.bin"; filename*=UTF-8''a.bin`,
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'private, no-cache',
      'accept-ranges': 'bytes',
      'last-modified': 'Tue, 14 Nov 2023 22:13:20 GMT',
      etag: `"${sha256}"`,
      'x-file-sha256': sha256,
      'x-file-mtime': '1700000000',
    })
    expect(headers.get('content-range')).toBeNull()
  })

  test('changes nothing', async () => {
    const { download } = await withFile(content)
    const before = await commitsSeenBy(server.database)
    await download('/a.bin')
    await download('/a.bin', { range: 'bytes=0-9' })
    expect(await commitsSeenBy(server.database)).toBe(before)
  })

  const size = content.length
  test.each([
    ['bytes=0-0', 0, 0],
    ['bytes=0-9', 0, 9],
    ['bytes=500-', 500, size - 1],
    [`bytes=${size - 1}-`, size - 1, size - 1],
    [`bytes=${size - 1}-${size - 1}`, size - 1, size - 1],
    ['bytes=-1', size - 1, size - 1],
    ['bytes=-300', size - 300, size - 1],
    [`bytes=-${size}`, 0, size - 1],
    [`bytes=-${size + 1}`, 0, size - 1],
    [`bytes=0-${size - 1}`, 0, size - 1],
    ['bytes=10-999999999', 10, size - 1],
    [' bytes=1-2 ', 1, 2],
  ])('in part: %s', async (range, start, end) => {
    const { download } = await withFile(content)
    const { status, headers, bytes } = await download('/a.bin', { range })
    expect([status, headers.get('content-range'), headers.get('content-length')]).toEqual([
      206,
      `bytes ${start}-${end}/${size}`,
      String(end - start + 1),
    ])
    expect(bytes.equals(content.subarray(start, end + 1))).toBe(true)
    expect(headers.get('x-file-sha256')).toBe(sha256)
  })

  test.each([`bytes=${size}-`, `bytes=${size + 5}-${size + 9}`, 'bytes=-0'])(
    'in a part that lies outside: %s',
    async (range) => {
      const { download } = await withFile(content)
      const { status, json } = await download('/a.bin', { range })
      expect([status, json]).toMatchObject([416, { ok: false, code: 'range_not_satisfiable', size }])
    },
  )

  test.each([
    'bytes=9-5',
    'bytes=-',
    'bytes=a-b',
    'bytes=0-4,10-14',
    'lines=0-4',
    'bytes 0-4',
    'bytes=0x0-4',
    'bytes=1-2-3',
    '',
  ])('in parts that make no sense, or several, is whole: %j', async (range) => {
    const { download } = await withFile(content)
    const { status, bytes, headers } = await download('/a.bin', { range })
    expect([status, sha256Of(bytes), headers.get('content-range')]).toEqual([200, sha256, null])
  })

  test('in part only of the content the client has the other parts of', async () => {
    const { download } = await withFile(content)
    const part = (condition: string) => download('/a.bin', { range: 'bytes=0-4', 'if-range': condition })
    expect((await part(`"${sha256}"`)).status).toBe(206)
    for (const other of [`"${'0'.repeat(64)}"`, `W/"${sha256}"`, 'Tue, 14 Nov 2023 22:13:20 GMT', sha256]) {
      const { status, bytes } = await part(other)
      expect([other, status, bytes.length]).toEqual([other, 200, size])
    }
  })

  test('is not sent again to whom has it', async () => {
    const { download } = await withFile(content)
    for (const condition of [`"${sha256}"`, `"x", "${sha256}"`, `W/"${sha256}"`, '*']) {
      const { status, bytes, headers } = await download('/a.bin', { 'if-none-match': condition })
      expect([condition, status, bytes.length, headers.get('etag')]).toEqual([condition, 304, 0, `"${sha256}"`])
    }
    for (const condition of ['"x"', sha256.slice(1), '']) {
      expect((await download('/a.bin', { 'if-none-match': condition })).status).toBe(200)
    }
  })

  test('can be asked about without being sent', async () => {
    const { download } = await withFile(content)
    const { status, bytes, headers } = await download('/a.bin', {}, 'HEAD')
    expect([status, bytes.length]).toEqual([200, 0])
    expect([headers.get('content-length'), headers.get('x-file-sha256'), headers.get('etag')]).toEqual([
      String(size),
      sha256,
      `"${sha256}"`,
    ])
    const part = await download('/a.bin', { range: 'bytes=0-9' }, 'HEAD')
    expect([part.status, part.headers.get('content-length'), part.bytes.length]).toEqual([206, '10', 0])
  })
})

describe('a download', () => {
  test('of an empty file is empty, and no part of it can be had', async () => {
    const { download } = await withFile('')
    const { status, bytes, headers } = await download('/a.bin')
    expect([status, bytes.length, headers.get('content-length'), headers.get('x-file-sha256')]).toEqual([
      200,
      0,
      '0',
      sha256Of(''),
    ])
    expect((await download('/a.bin', { range: 'bytes=0-' })).status).toBe(416)
    expect((await download('/a.bin', {}, 'HEAD')).headers.get('content-length')).toBe('0')
  })

  test.each(['/missing', '/folder', '/folder/missing', '/folder/file.txt/below', '/'])(
    'of %s, which is no file, finds nothing',
    async (path) => {
      const account = await server.account()
      await account.put('/folder/file.txt', 'x')
      const { status, json } = await account.download(path)
      expect([status, json]).toMatchObject([404, { code: 'not_found', error: 'Nicht gefunden' }])
    },
  )

  test('of somebody else’s file finds nothing', async () => {
    await withFile('secret', '/secret.txt')
    const stranger = await server.account()
    const { status, json } = await stranger.download('/secret.txt')
    expect([status, json['code']]).toEqual([404, 'not_found'])
  })

  test.each([
    ['plain.txt', 'plain.txt', 'plain.txt'],
    ['two words.txt', 'two words.txt', 'two%20words.txt'],
    ['Grüße.txt', 'Gr__e.txt', 'Gr%C3%BC%C3%9Fe.txt'],
    ['日本語.txt', '___.txt', '%E6%97%A5%E6%9C%AC%E8%AA%9E.txt'],
    ['😀', '__', '%F0%9F%98%80'],
    ['say "hi".txt', 'say _hi_.txt', 'say%20%22hi%22.txt'],
    ["it's (1)*.txt", "it's (1)*.txt", 'it%27s%20%281%29%2A.txt'],
    ['100%.txt', '100_.txt', '100%25.txt'],
    ['a;b=c,d.txt', 'a;b=c,d.txt', 'a%3Bb%3Dc%2Cd.txt'],
    ['\u202egnp.exe', '_gnp.exe', '%E2%80%AEgnp.exe'],
  ])(
    'of "%s" offers that name in a form every client reads and in one for all of Unicode',
    async (name, plain, encoded) => {
      const { download } = await withFile('x', `/folder/${name}`)
      const { headers } = await download(`/folder/${name}`)
      expect(headers.get('content-disposition')).toBe(`attachment; filename="${plain}"; filename*=UTF-8''${encoded}`)
    },
  )

  test('of a page or a picture is none: the type says nothing about the content', async () => {
    for (const name of ['/x.html', '/x.svg', '/x.js', '/x.pdf']) {
      const { download } = await withFile('<script>alert(1)</script>', name)
      expect((await download(name)).headers.get('content-type')).toBe('application/octet-stream')
    }
  })

  test('that began before the file was replaced or deleted ends with the content it began with', async () => {
    const content = bytesOf(4 << 20)
    const account = await withFile(content)
    const url = `${server.url}${syncFiles.actions.download.path}?action=download&path=/a.bin`
    const begun = await fetch(url, { headers: { authorization: `Bearer ${account.token}` } })
    await account.put('/a.bin', 'other')
    await account.ask(syncFiles.actions.delete, { path: '/a.bin' })
    expect(sha256Of(Buffer.from(await begun.arrayBuffer()))).toBe(sha256Of(content))
  })

  test('whose client hangs up leaves the server well', async () => {
    const account = await withFile(bytesOf(8 << 20))
    const controller = new AbortController()
    const url = `${server.url}${syncFiles.actions.download.path}?action=download&path=/a.bin`
    const begun = await fetch(url, { headers: { authorization: `Bearer ${account.token}` }, signal: controller.signal })
    controller.abort()
    await expect(begun.arrayBuffer()).rejects.toThrow('abort')
    expect((await account.download('/a.bin', { range: 'bytes=0-4' })).status).toBe(206)
  })
})
