import { describe, expect, test } from 'vitest'
import { syncFiles } from '../../src/contract/sync-files.ts'
import { syncStatus } from '../../src/contract/sync-status.ts'
import { versions } from '../../src/contract/versions.ts'
import type { Account } from '../support/account.ts'
import { bytesOf, chunked, sha256Of, temporaryFilesOf } from '../support/contents.ts'
import { mirrorOf } from '../support/mirror.ts'
import { serverOfTest, serverOfFile } from '../support/server.ts'
import { commitsSeenBy } from '../support/state.ts'
import { entryBytes, tarOf, unpacked, type Packed } from '../support/tar.ts'

const { upload_batch, download_batch, files_batch } = syncFiles.actions

const server = await serverOfFile()

interface Result {
  index: number
  path: string
  ok: boolean
  status: number
  code?: string
  error?: string
  current?: { sha256: string; size: number; mtime: number; version: number } | null
}

const headers = { 'content-type': 'application/x-tar' }
const upload = (account: Account, body: Uint8Array | ReadableStream) =>
  account.call(upload_batch, {}, { headers, body })
const resultsOf = ({ json }: { json: Record<string, unknown> }) => json['results'] as Result[]
const codes = (reply: { json: Record<string, unknown> }) => resultsOf(reply).map(({ code, status }) => code ?? status)
const paths = async (account: Account) => (await account.manifest()).files.map(({ path }) => path).sort()

test('batches are announced with their limits', async () => {
  const { features, limits } = await (await server.account()).ask(syncStatus.actions.capabilities, {})
  expect(features).toMatchObject({
    upload_batch: { max_entries: 1_000, max_bytes: 67_108_864 },
    download_batch: { max_entries: 1_000 },
    files_batch: { max_operations: 500, if_empty: true },
  })
  expect(limits).toEqual({})
})

describe('upload_batch', () => {
  test('stores files and folders, small and large, whole or in chunks', async () => {
    const big = bytesOf(300_000)
    const archive = tarOf(
      { name: 'a.txt', content: 'hello', mtime: 7 },
      { name: '/docs', type: '5' },
      { name: 'empty/folder/', type: '5' },
      { name: 'docs/grün 🌳.bin', content: big, keys: { 'SVC.sha256': sha256Of(big), 'SVC.if_sha256': 'absent' } },
      { name: 'docs/nothing' },
    )
    for (const body of [archive, chunked(archive, 1_000)]) {
      const ada = await server.account()
      const mirror = mirrorOf(ada)
      await mirror.follow()
      const reply = await upload(ada, body)
      expect([reply.status, reply.json]).toEqual([
        200,
        {
          ok: true,
          results: ['/a.txt', '/docs', '/empty/folder', '/docs/grün 🌳.bin', '/docs/nothing'].map((path, index) => ({
            index,
            path,
            ok: true,
            status: 200,
          })),
          cursor: (await ada.delta(0)).cursor,
        },
      ])
      await mirror.follow()
      expect((await ada.download('/docs/grün 🌳.bin')).bytes.equals(big)).toBe(true)
      expect((await ada.download('/a.txt')).headers.get('x-file-mtime')).toBe('7')
      expect((await ada.manifest()).directories).toContain('/empty/folder')
    }
  })

  test('answers for each entry on its own', async () => {
    const ada = await server.account({ quota: 100 })
    await ada.put('/old', 'old')
    await ada.put('/dir/x', 'x')
    const mirror = mirrorOf(ada)
    await mirror.follow()
    const entries: [Packed, string | number][] = [
      [{ name: 'good', content: 'good' }, 200],
      [{ name: '../evil', content: 'x' }, 'bad_path'],
      [{ name: '/a/../../evil', content: 'x' }, 'bad_path'],
      [{ name: './a', content: 'x' }, 'bad_path'],
      [{ name: 'a//b', content: 'x' }, 'bad_path'],
      [{ name: 'a\\b', content: 'x' }, 'bad_path'],
      [{ name: '/', type: '5' }, 'bad_path'],
      [{ name: 'file/', content: 'x' }, 'bad_path'],
      [{ name: 'Teamchat/x', content: 'x' }, 'bad_path'],
      [{ name: 'n'.repeat(256), content: 'x' }, 'bad_path'],
      [{ name: 'link', type: '2' }, 'bad_request'],
      [{ name: 'hard', type: '1', content: 'x' }, 'bad_request'],
      [{ name: 'device', type: '3' }, 'bad_request'],
      [{ name: 'fifo', type: '6' }, 'bad_request'],
      [{ name: 'mismatch', content: 'x', keys: { 'SVC.sha256': sha256Of('y') } }, 'checksum_mismatch'],
      [{ name: 'nonsense', content: 'x', keys: { 'SVC.sha256': 'abc' } }, 'bad_request'],
      [{ name: 'nonsense', content: 'x', keys: { 'SVC.if_sha256': 'abc' } }, 'bad_request'],
      [{ name: 'old', content: 'n', keys: { 'SVC.if_sha256': 'absent' } }, 'precondition_failed'],
      [{ name: 'old', content: 'n', keys: { 'SVC.if_sha256': sha256Of('x') } }, 'precondition_failed'],
      [{ name: 'old', content: 'new', keys: { 'SVC.if_sha256': sha256Of('old') } }, 200],
      [{ name: 'dir', content: 'x' }, 'exists'],
      [{ name: 'old', type: '5' }, 'exists'],
      [{ name: 'old/below', content: 'x' }, 'exists'],
      [{ name: 'dir', type: '5' }, 200],
      [{ name: 'much', content: 'x'.repeat(93) }, 'quota_exceeded'],
      [{ name: 'fits', content: 'x'.repeat(92) }, 200],
      [{ name: 'one', content: '1' }, 'quota_exceeded'],
      [{ name: 'good', content: 'food' }, 200],
      [{ name: 'good', content: 'mood' }, 200],
    ]
    const reply = await upload(ada, tarOf(...entries.map(([entry]) => entry)))
    expect(reply.status).toBe(200)
    expect(codes(reply)).toEqual(entries.map(([, code]) => code))
    expect(resultsOf(reply).map(({ index }) => index)).toEqual(entries.map((_, index) => index))
    expect(resultsOf(reply)[1]).toEqual({
      index: 1,
      path: '/../evil',
      ok: false,
      status: 400,
      code: 'bad_path',
      error: expect.any(String) as string,
    })
    expect(await paths(ada)).toEqual(['/dir/x', '/fits', '/good', '/old'])
    expect((await ada.download('/good')).bytes.toString()).toBe('mood')
    expect(await temporaryFilesOf(server.dataDir)).toEqual([])
    await mirror.follow()
  })

  test('takes 1,000 entries; of more it stores 1,000 and says so', async () => {
    const ada = await server.account()
    const entries = Array.from({ length: 1_000 }, (_, index) => ({
      name: `d${index % 10}/f${index}`,
      content: `${index}`,
    }))
    const whole = await upload(ada, tarOf(...entries))
    expect([whole.status, resultsOf(whole).every(({ ok }) => ok), resultsOf(whole).length]).toEqual([200, true, 1_000])
    await mirrorOf(ada).follow()
    const bob = await server.account()
    const over = await upload(bob, tarOf(...entries, { name: 'over', content: 'x' }))
    expect([over.status, over.json['code'], resultsOf(over).length]).toEqual([400, 'too_many_operations', 1_000])
    expect(await paths(bob)).toHaveLength(1_000)
  })

  test('is told how far an archive went that broke off', async () => {
    const two = Buffer.concat([
      entryBytes({ name: 'a', content: 'a' }),
      entryBytes({ name: 'b', content: 'b'.repeat(900) }),
    ])
    const broken: [Buffer, string[]][] = [
      [two, ['/a', '/b']],
      [two.subarray(0, two.length - 1_024), ['/a']],
      [two.subarray(0, 1_300), ['/a']],
      [two.subarray(0, 1_024), ['/a']],
      [two.subarray(0, 1_023), ['/a']],
      [two.subarray(0, 512), []],
      [Buffer.concat([two.subarray(0, 1_024), Buffer.alloc(1_024, 1)]), ['/a']],
      [Buffer.alloc(0), []],
    ]
    for (const [archive, stored] of broken) {
      const ada = await server.account()
      const reply = await upload(ada, archive)
      expect([reply.status, reply.json['code']]).toEqual([400, 'bad_request'])
      expect(resultsOf(reply).flatMap(({ ok, path }) => (ok ? [path] : []))).toEqual(stored)
      expect(await paths(ada)).toEqual(stored)
    }
  })

  test('is no larger than 64 MiB, announced or not, whatever it holds', async () => {
    const ada = await server.account()
    const before = await commitsSeenBy(server.database)
    const huge = entryBytes({ name: 'huge', size: 70 * 1_048_576 })
    const announced = Buffer.concat([huge, Buffer.alloc(64 * 1_048_576)])
    expect((await upload(ada, announced)).json['code']).toBe('too_large')
    expect((await upload(ada, chunked(announced, 1_048_576))).json['code']).toBe('too_large')
    expect(await commitsSeenBy(server.database)).toBe(before)
    expect(await temporaryFilesOf(server.dataDir)).toEqual([])
  })

  test('is an archive and nothing else', async () => {
    const ada = await server.account()
    const body = tarOf({ name: 'a', content: 'a' })
    for (const type of ['application/gzip', 'text/plain', 'application/json'])
      expect((await ada.call(upload_batch, {}, { headers: { 'content-type': type }, body })).status).toBe(415)
    const data = new FormData()
    data.append('file', new Blob([body]), 'a.tar')
    expect((await ada.call(upload_batch, {}, { body: data })).status).toBe(415)
    const packed = await ada.call(upload_batch, {}, { headers: { ...headers, 'content-encoding': 'gzip' }, body })
    expect(packed.status).toBe(400)
    expect(await paths(ada)).toEqual([])
  })

  test('refuses a file that is too large for the service, and goes on behind it', async () => {
    const one = await serverOfTest()
    await one.set('files.max_size', 1_000)
    const ada = await one.account()
    const reply = await upload(
      ada,
      tarOf({ name: 'a', content: 'x'.repeat(200_000) }, { name: 'b', content: 'x'.repeat(1_000) }),
    )
    expect(codes(reply)).toEqual(['too_large', 200])
    expect(await paths(ada)).toEqual(['/b'])
  })
})

describe('download_batch', () => {
  test('hands out many files as one archive with an end', async () => {
    const ada = await server.account()
    const big = bytesOf(300_000)
    await ada.put('/a.txt', 'hello', { mtime: 7 })
    await ada.put('/docs/grün 🌳.bin', big)
    await ada.put('/empty', '')
    const wanted = ['/a.txt', '/none', '/docs', '/docs/grün 🌳.bin', 'relative', '/empty', '/a.txt', '/', '']
    const reply = await ada.call(download_batch, { paths: wanted })
    expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'application/x-tar'])
    const entries = await unpacked(reply.bytes)
    expect(entries.map(({ name, keys }) => [name, keys['SVC.sha256']])).toEqual([
      ['a.txt', sha256Of('hello')],
      ['docs/grün 🌳.bin', sha256Of(big)],
      ['empty', sha256Of('')],
      ['a.txt', sha256Of('hello')],
      ['.svc-end.json', undefined],
    ])
    expect(entries[0]).toMatchObject({ mtime: 7, content: 'hello' })
    expect(entries[1]!.size).toBe(300_000)
    expect(JSON.parse(entries.at(-1)!.content)).toEqual({
      count: 4,
      errors: [
        { path: '/none', code: 'not_found' },
        { path: '/docs', code: 'not_found' },
        { path: 'relative', code: 'bad_path' },
        { path: '/', code: 'not_found' },
        { path: '', code: 'bad_path' },
      ],
    })
  })

  test('knows only files of the caller', async () => {
    const ada = await server.account()
    const bob = await server.account()
    await ada.put('/secret', 'x')
    const [end] = await unpacked((await bob.call(download_batch, { paths: ['/secret'] })).bytes)
    expect(JSON.parse(end!.content)).toEqual({ count: 0, errors: [{ path: '/secret', code: 'not_found' }] })
  })

  test('takes 1,000 paths and no more, and none too', async () => {
    const ada = await server.account()
    await ada.put('/a', 'a')
    const many = await ada.call(download_batch, { paths: Array<string>(1_000).fill('/a') })
    expect(await unpacked(many.bytes)).toHaveLength(1_001)
    const over = await ada.call(download_batch, { paths: Array<string>(1_001).fill('/a') })
    expect([over.status, over.json['code']]).toEqual([400, 'too_many_operations'])
    expect(await unpacked((await ada.call(download_batch, { paths: [] })).bytes)).toHaveLength(1)
  })
})

describe('files_batch', () => {
  test('does each operation in order, or refuses it alone', async () => {
    const ada = await server.account()
    await ada.put('/a', 'a')
    await ada.put('/b', 'b')
    await ada.put('/d/x', 'x')
    const mirror = mirrorOf(ada)
    await mirror.follow()
    const operations: [object, string | number][] = [
      [{ op: 'mkdir', path: '/new/deep' }, 200],
      [{ op: 'mkdir', path: '/new/deep' }, 200],
      [{ op: 'mkdir', path: '/a' }, 'exists'],
      [{ op: 'move', from: '/a', to: '/new/a' }, 200],
      [{ op: 'move', from: '/a', to: '/new/b' }, 'not_found'],
      [{ op: 'move', from: '/b', to: '/new/a' }, 'exists'],
      [{ op: 'move', from: '/b', to: '/c', if_sha256: sha256Of('x') }, 'precondition_failed'],
      [{ op: 'move', from: '/d', to: '/d/e' }, 'bad_request'],
      [{ op: 'delete', path: '/b', if_sha256: sha256Of('x') }, 'precondition_failed'],
      [{ op: 'delete', path: '/b', if_sha256: sha256Of('b') }, 200],
      [{ op: 'delete', path: '/b' }, 200],
      [{ op: 'delete', path: '/d', if_empty: true }, 'not_empty'],
      [{ op: 'delete', path: '/d/x', if_empty: true }, 'conflict'],
      [{ op: 'delete', path: '/d/x' }, 200],
      [{ op: 'delete', path: '/d', if_empty: true }, 200],
      [{ op: 'delete' }, 'bad_request'],
      [{ op: 'move', from: '/new' }, 'bad_request'],
      [{ op: 'copy', from: '/new', to: '/x' }, 'bad_request'],
      [{ op: 'delete', path: '/', if_sha256: 'x' }, 'bad_request'],
      [{ op: 'delete', path: '/' }, 'bad_path'],
      [{ op: 'mkdir', path: '/Teamchat/x' }, 'bad_path'],
      [{ op: 'mkdir', path: '/\ud800' }, 'bad_path'],
      [{ op: 'mkdir', path: '/last' }, 200],
    ]
    const reply = await ada.call(files_batch, { operations: operations.map(([operation]) => operation) })
    expect([reply.status, reply.json['cursor']]).toEqual([200, (await ada.delta(0)).cursor])
    expect(codes(reply)).toEqual(operations.map(([, code]) => code))
    expect(resultsOf(reply)[5]).toMatchObject({ index: 5, path: '/b', ok: false, status: 409 })
    expect(resultsOf(reply)[8]!.current).toMatchObject({ sha256: sha256Of('b'), size: 1 })
    expect(resultsOf(reply).map((each) => 'current' in each)).toEqual(
      operations.map(([, code]) => code === 'precondition_failed'),
    )
    expect(await paths(ada)).toEqual(['/new/a'])
    await mirror.follow()
  })

  test('takes 500 operations; of more it does none', async () => {
    const ada = await server.account()
    const operations = Array.from({ length: 501 }, (_, index) => ({ op: 'mkdir', path: `/d${index}` }))
    const before = await commitsSeenBy(server.database)
    const over = await ada.call(files_batch, { operations })
    expect([over.status, over.json['code']]).toEqual([400, 'too_many_operations'])
    expect(await commitsSeenBy(server.database)).toBe(before)
    const { results } = await ada.ask(files_batch, { operations: operations.slice(1) })
    expect(results.map(({ ok, index }) => [ok, index])).toEqual(operations.slice(1).map((_, index) => [true, index]))
    expect((await ada.manifest()).directories).toHaveLength(500)
    expect((await ada.ask(files_batch, { operations: [] })).results).toEqual([])
    await mirrorOf(ada).follow()
  })
})

test('a batch that goes on for long does not fill the disk with the old versions it makes', async () => {
  const ada = await server.account({ quota: 320_000 })
  const contents = Array.from({ length: 101 }, (_, n) => bytesOf(40_000, n))
  const archive = tarOf(...contents.map((content) => ({ name: 'f', content })))
  const announced = archive.length - 2_048
  let end = () => {}
  const held = new Promise<void>((resolve) => (end = resolve))
  const body = new ReadableStream({
    async start(controller) {
      controller.enqueue(archive.subarray(0, announced))
      await held
      controller.enqueue(archive.subarray(announced))
      controller.close()
    },
  })
  const answer = upload(ada, body)
  const files = async () => (await ada.manifest()).files
  await expect.poll(files).toHaveLength(1)
  // A history of half the quota: four old versions.
  const old = async () => (await ada.ask(versions.actions.list, { path: '/f' })).versions.length - 1
  await expect.poll(old).toBe(4)
  end()
  expect(codes(await answer)).toEqual(contents.map(() => 200))
  expect(await old()).toBe(4)
})
