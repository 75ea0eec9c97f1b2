import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { filesystem } from '../../src/contract/filesystem.ts'
import type { Account } from '../support/account.ts'
import { bytesOf } from '../support/contents.ts'
import { hasSharp, jpegOf, png, svgBomb, webpSize } from '../support/pictures.ts'
import { leaveRoom, makeRoom } from '../support/rooms.ts'
import { serverOfFile, serverOfTest } from '../support/server.ts'

const fs = filesystem.actions

const server = await serverOfFile()

const get = (account: Account, path: string, more: object = {}, headers: Record<string, string> = {}) =>
  account.call(fs.thumbnail, { path, size: 128, ...more } as never, { headers })

async function withPicture(content: Uint8Array | string = png(300, 200)): Promise<Account> {
  const account = await server.account()
  await account.put('/a.png', content)
  return account
}

describe.runIf(hasSharp)('a thumbnail', () => {
  test('is a small WebP that keeps the shape, and small images their size', async () => {
    const ada = await withPicture()
    const { status, headers, bytes } = await get(ada, '/a.png')
    expect([status, headers.get('content-type'), webpSize(bytes)]).toEqual([200, 'image/webp', [128, 85]])
    expect(headers.get('content-security-policy')).toBe("default-src 'none'; sandbox")
    expect(webpSize((await get(ada, '/a.png', { size: 512 })).bytes)).toEqual([300, 200])
    expect((await get(ada, '/a.png', { size: 100 })).status).toBe(400)
  })

  test('is cached for good under the tag of the list, and otherwise revalidated', async () => {
    const ada = await withPicture()
    const { items } = await ada.ask(fs.list, { path: '/', ids: true })
    const { tag } = items.find(({ name }) => name === 'a.png')!
    const first = await get(ada, '/a.png', { tag })
    expect(first.headers.get('cache-control')).toBe('private, max-age=31536000, immutable')
    const etag = first.headers.get('etag')!
    expect((await get(ada, '/a.png', {}, { 'if-none-match': etag })).status).toBe(304)
    expect((await get(ada, '/a.png')).headers.get('cache-control')).toBe('private, no-cache')
    await ada.put('/a.png', png(20, 20))
    const changed = await get(ada, '/a.png', { tag }, { 'if-none-match': etag })
    expect([changed.status, changed.headers.get('cache-control')]).toEqual([200, 'private, no-cache'])
    expect(webpSize(changed.bytes)).toEqual([20, 20])
  })

  test('is made once for a content, and for people who may read a file with it', async () => {
    const [ada, bob, eve] = [await withPicture(png(310, 200)), await server.account(), await server.account()]
    const room = await makeRoom(server, 'Gallery', ada, bob)
    await ada.call(fs.upload, { path: '/Teamchat/Gallery' }, { body: form(png(320, 200), 'b.png') })
    const path = '/Teamchat/Gallery/b.png'
    expect(webpSize((await get(bob, path)).bytes)).toEqual([128, 80])
    expect([(await get(eve, path)).status, (await get(eve, '/a.png')).status]).toEqual([404, 404])
    await leaveRoom(server, room, bob)
    const { tag } = (await ada.ask(fs.list, { path: '/Teamchat/Gallery', ids: true })).items[0]!
    expect((await get(bob, path, { tag })).status).toBe(404)
    expect((await get(ada, path)).status).toBe(200)
    // Neither the quota nor the list of files knows of thumbnails.
    expect((await ada.ask(fs.quota, {})).used).toBe(png(310, 200).length + png(320, 200).length)
    const cached = await readdir(join(server.dataDir, 'thumbnails'), { recursive: true })
    expect(cached.filter((name) => name.includes('-128'))).not.toEqual([])
  })

  test.each([
    ['60,000 x 60,000 pixels', png(10, 10, undefined, [60_000, 60_000]), 'Images of more than 100 million pixels'],
    ['a truncated image', png(900, 900).subarray(0, 900), 'The file is damaged'],
    ['no image', bytesOf(5_000), 'The file is damaged'],
    ['an empty file', '', 'The file is damaged'],
    ['an SVG that multiplies', svgBomb(), 'The image takes too much time or memory'],
    [
      'a large SVG',
      '<svg xmlns="http://www.w3.org/2000/svg" width="60000" height="60000"/>',
      'Images of more than 100 million',
    ],
  ])('of %s is refused, at once the second time', async (_, content, text) => {
    const ada = await withPicture(content)
    for (let time = 0; time < 2; time++) {
      const { status, json } = await get(ada, '/a.png')
      expect([status, json['error']]).toEqual([415, expect.stringContaining(text)])
    }
    expect((await get(await withPicture(), '/a.png')).status).toBe(200)
  })
})

test('is not made where thumbnails are off', async () => {
  const off = await serverOfTest({ env: { SVC_THUMBNAILS_MAX_BYTES: '0' } })
  const ada = await off.account()
  await ada.put('/a.png', png(30, 20))
  const { status, json } = await get(ada, '/a.png')
  expect([status, json['code']]).toEqual([501, 'thumbnails_unavailable'])
})

test('photos of all folders are listed by the date of the camera, or of the file', async () => {
  const [ada, bob] = [await server.account(), await server.account()]
  const day = (date: string) => Date.parse(date) / 1_000
  await ada.put('/old.png', png(3, 2), { mtime: day('2020-01-01') })
  await ada.put('/new.PNG', png(3, 3), { mtime: day('2024-01-01') })
  await ada.put('/Trips/Rome/taken.jpg', jpegOf('2022:05:06 07:08:09'), { mtime: day('2025-01-01') })
  await ada.put('/Trips/broken.jpg', jpegOf('2022:05:06 07:08:09').subarray(0, 40), { mtime: day('2019-01-01') })
  await ada.put('/notes.txt', 'no photo')
  await bob.put('/bob.png', png(3, 4))
  await expect.poll(async () => (await ada.ask(fs.photos, {})).complete).toBe(true)
  const { photos } = await ada.ask(fs.photos, {})
  expect(photos.map(({ path, taken }) => [path, taken.slice(0, 19)])).toEqual([
    ['/new.PNG', '2024-01-01T00:00:00'],
    ['/Trips/Rome/taken.jpg', '2022-05-06T07:08:09'],
    ['/old.png', '2020-01-01T00:00:00'],
    ['/Trips/broken.jpg', '2019-01-01T00:00:00'],
  ])
  if (hasSharp) expect((await get(ada, photos[0]!.path, { tag: photos[0]!.tag })).status).toBe(200)
})

function form(content: Uint8Array, name: string): FormData {
  const data = new FormData()
  data.append('file', new Blob([new Uint8Array(content)]), name)
  return data
}
