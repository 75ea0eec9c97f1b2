import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { filesystem } from '../../src/contract/filesystem.ts'
import { syncFiles } from '../../src/contract/sync-files.ts'
import type { Account } from '../support/account.ts'
import { disable } from '../support/chat.ts'
import { bytesOf, chunked, filesBelow, sha256Of } from '../support/contents.ts'
import { openRaw, rawHead, readRaw } from '../support/raw.ts'
import { s3Environment, s3OfFile } from '../support/s3.ts'
import { serverOfFile, type TestServer } from '../support/server.ts'
import { tarOf } from '../support/tar.ts'

const bucket = await s3OfFile().bucket()

/** A server, and everything that stands where it keeps contents, what is still arriving too. */
interface Store {
  server: TestServer
  stored: () => Promise<string[]>
}

async function onDisk(): Promise<Store> {
  const server = await serverOfFile()
  return { server, stored: () => filesBelow(join(server.dataDir, 'blobs')) }
}

async function inBucket(): Promise<Store> {
  const server = await serverOfFile({ flags: { blobs: bucket.address() }, env: s3Environment })
  const arriving = () => filesBelow(join(server.dataDir, 'arriving'))
  const stored = async () => [...(await bucket.objects()), ...(await bucket.uploads()), ...(await arriving())].sort()
  return { server, stored }
}

const stores: [string, Store][] = [
  ['on disk', await onDisk()],
  ['in a bucket', await inBucket()],
]

const MIB = 1 << 20

let seed = 0
const fresh = (size = MIB) => bytesOf(size, ++seed)

function form(name: string, content: Uint8Array): FormData {
  const body = new FormData()
  body.append('file', new Blob([content]), name)
  return body
}

describe.each(stores)('a store %s', (where, { server, stored }) => {
  async function begin(options: { quota?: number } = {}): Promise<{ account: Account; before: string[] }> {
    const account = await server.account(options)
    await account.put('/there.bin', fresh(100_000))
    return { account, before: await stored() }
  }
  const refusals: [string, number, (account: Account) => Promise<{ status: number }>][] = [
    ['for its precondition', 412, (account) => account.upload('/there.bin', fresh(), {}, { 'if-none-match': '*' })],
    ['for its checksum', 422, (account) => account.upload('/a.bin', fresh(), {}, { 'x-file-sha256': sha256Of('') })],
    ['for a folder of that name', 409, (account) => account.upload('/folder', fresh())],
    ['for a file on its path', 409, (account) => account.upload('/there.bin/below.bin', fresh())],
    [
      'on the desktop, for what is there',
      412,
      (account) =>
        account.call(filesystem.actions.upload, { path: '/', if_absent: true }, { body: form('there.bin', fresh()) }),
    ],
  ]
  test.each(refusals)('keeps nothing of an upload that is refused %s', async (_, status, refused) => {
    const { account, before } = await begin()
    await account.ask(filesystem.actions.mkdir, { path: '/folder' })
    expect((await refused(account)).status).toBe(status)
    expect(await stored()).toEqual(before)
  })

  test('keeps nothing of an upload that is refused for the quota, whether it said its length or not', async () => {
    const { account, before } = await begin({ quota: MIB / 2 })
    expect((await account.upload('/over.bin', fresh())).status).toBe(413)
    expect((await account.upload('/over.bin', chunked(fresh(), 50_000))).status).toBe(413)
    expect(await stored()).toEqual(before)
  })

  test('keeps nothing of an upload that is refused for the quota, which another upload used up meanwhile', async () => {
    const { account, before } = await begin({ quota: 2 * MIB })
    const content = fresh(1.5 * MIB)
    const raw = await openRaw(server.url)
    const headers = { authorization: `Bearer ${account.token}`, 'content-length': content.length, connection: 'close' }
    raw.write(rawHead('POST', `${syncFiles.path}?action=upload&path=/late.bin`, headers))
    raw.write(content.subarray(0, MIB / 2))
    await expect.poll(async () => (await stored()).length).toBe(before.length + 1)
    const other = fresh()
    await account.put('/other.bin', other)
    raw.write(content.subarray(MIB / 2))
    expect(readRaw(await raw.answer()).status).toBe(413)
    const added = (await stored()).filter((path) => !before.includes(path)).map((path) => path.slice(-64))
    expect(added).toEqual([sha256Of(other)])
  })

  test('receives of uploads at once no more than the quota, and keeps nothing of those that are given up', async () => {
    const { account, before } = await begin({ quota: 2 * MIB })
    const raws = await Promise.all([1, 2, 3].map(() => openRaw(server.url)))
    const headers = { authorization: `Bearer ${account.token}`, 'content-length': 1.5 * MIB, connection: 'close' }
    for (const [index, raw] of raws.entries()) {
      raw.write(rawHead('POST', `${syncFiles.path}?action=upload&path=/${index}.bin`, headers))
      raw.write(fresh())
    }
    expect(readRaw(await Promise.race(raws.map((raw) => raw.answer()))).status).toBe(413)
    for (const raw of raws) raw.hangUp()
    await expect.poll(stored).toEqual(before)
  })

  test('keeps nothing of an upload that is refused because the access of its sender has ended', async () => {
    const { account, before } = await begin()
    const content = fresh()
    const raw = await openRaw(server.url)
    const headers = { authorization: `Bearer ${account.token}`, 'content-length': MIB, connection: 'close' }
    raw.write(rawHead('POST', `${syncFiles.path}?action=upload&path=/late.bin`, headers))
    raw.write(content.subarray(0, MIB / 2))
    await expect.poll(async () => (await stored()).length).toBe(before.length + 1)
    await disable(server, account)
    raw.write(content.subarray(MIB / 2))
    expect(readRaw(await raw.answer()).status).toBe(401)
    expect(await stored()).toEqual(before)
  })

  test('goes on answering on the connection of an upload that it could not begin to store', async () => {
    const { account } = await begin()
    const folder = join(server.dataDir, where === 'on disk' ? 'blobs/tmp' : 'arriving')
    await rename(folder, `${folder}.away`)
    const raw = await openRaw(server.url)
    const headers = { authorization: `Bearer ${account.token}`, 'content-length': MIB }
    raw.write(rawHead('POST', `${syncFiles.path}?action=upload&path=/lost.bin`, headers))
    raw.write(fresh())
    await raw.until('}')
    await rename(`${folder}.away`, folder)
    raw.write(rawHead('GET', '/healthz', { connection: 'close' }))
    expect((await raw.answer()).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 500', 'HTTP/1.1 200'])
  })

  test('keeps nothing of an upload that is broken off because its sender hung up', async () => {
    const { account, before } = await begin()
    const raw = await openRaw(server.url)
    const headers = { authorization: `Bearer ${account.token}`, 'content-length': MIB, connection: 'close' }
    raw.write(rawHead('POST', `${syncFiles.path}?action=upload&path=/late.bin`, headers))
    raw.write(fresh().subarray(0, MIB / 2))
    await expect.poll(async () => (await stored()).length).toBe(before.length + 1)
    raw.hangUp()
    await expect.poll(() => stored()).toEqual(before)
  })

  test('of an archive only what is accepted comes into the store, whatever stands before it in the archive', async () => {
    const { account, before } = await begin({ quota: 2 * MIB })
    const absent = { keys: { 'SVC.if_sha256': 'absent' } }
    const [first, third] = [fresh(), fresh(100_000)]
    const entries = [
      { name: 'a.bin', content: first, ...absent },
      { name: 'small.txt', content: 'small' },
      // Refused only for what the same archive has brought before.
      { name: 'a.bin', content: fresh(), ...absent },
      { name: 'small.txt/below.bin', content: fresh(100_000) },
      { name: 'over.bin', content: fresh() },
      { name: 'wrong.bin', content: fresh(100_000), keys: { 'SVC.sha256': sha256Of('') } },
      { name: 'a.bin', content: third, keys: { 'SVC.if_sha256': sha256Of(first) } },
    ]
    const headers = { 'content-type': 'application/x-tar' }
    const { json } = await account.call(
      syncFiles.actions.upload_batch,
      {},
      { headers, body: new Uint8Array(tarOf(...entries)) },
    )
    const results = json['results'] as { status: number }[]
    expect(results.map(({ status }) => status)).toEqual([200, 200, 412, 409, 413, 422, 200])
    const added = (await stored()).filter((path) => !before.includes(path)).map((path) => path.slice(-64))
    expect(added.sort()).toEqual([sha256Of(first), sha256Of(third)].sort())
  })
})
