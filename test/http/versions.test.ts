import { expect, test } from 'vitest'
import { filesystem } from '../../src/contract/filesystem.ts'
import { versions } from '../../src/contract/versions.ts'
import type { Account } from '../support/account.ts'
import { sha256Of } from '../support/contents.ts'
import { mirrorOf } from '../support/mirror.ts'
import { serverOfFile } from '../support/server.ts'
import { commitsSeenBy } from '../support/state.ts'

const { list, download, restore } = versions.actions

const server = await serverOfFile()

const outcome = async (reply: ReturnType<Account['call']>) => {
  const { status, json } = await reply
  return [status, json['code'] ?? 'ok']
}

const history = async (account: Account, path = '/f') => (await account.ask(list, { path })).versions

async function written(): Promise<Account> {
  const ada = await server.account()
  for (const [index, content] of ['one', 'two two', 'three'].entries()) {
    server.clock.pass(1_000)
    await ada.put('/f', content, { mtime: index + 1 })
  }
  return ada
}

test('shows the contents a file has and had, newest first', async () => {
  const ada = await written()
  const found = await history(ada)
  expect(found.map(({ size, sha256, mtime, current }) => [size, sha256, mtime, current])).toEqual([
    [5, sha256Of('three'), 3, true],
    [7, sha256Of('two two'), 2, false],
    [3, sha256Of('one'), 1, false],
  ])
  expect(found[0]!.version_id).toBe(0)
  expect(new Set(found.map(({ version_id }) => version_id)).size).toBe(3)
  await ada.ask(filesystem.actions.mkdir, { path: '/d' })
  for (const path of ['/none', '/d']) expect(await outcome(ada.call(list, { path }))).toEqual([404, 'not_found'])
  expect(await outcome(ada.call(list, { path: '/' }))).toEqual([400, 'bad_path'])
})

test('hands out an earlier content, to be saved, in ranges too', async () => {
  const ada = await written()
  const [, second] = await history(ada)
  const params = { path: '/f', version_id: second!.version_id }
  const whole = await ada.call(download, params)
  expect([whole.status, whole.bytes.toString(), whole.headers.get('etag')]).toEqual([
    200,
    'two two',
    `"${second!.sha256}"`,
  ])
  expect(whole.headers.get('content-security-policy')).toBe("default-src 'none'; sandbox")
  expect(whole.headers.get('content-disposition')).toBe(`attachment; filename="f"; filename*=UTF-8''f`)
  const part = await ada.call(download, params, { headers: { range: 'bytes=4-' } })
  expect([part.status, part.bytes.toString()]).toEqual([206, 'two'])
  const head = await ada.call(download, params, { method: 'HEAD' })
  expect([head.status, head.headers.get('content-length'), head.bytes.length]).toEqual([200, '7', 0])
})

test('makes an earlier content the present one, which becomes a version itself', async () => {
  const ada = await written()
  const mirror = mirrorOf(ada)
  await mirror.follow()
  const [, , first] = await history(ada)
  expect(await ada.ask(restore, { path: '/f', version_id: first!.version_id })).toEqual({
    ok: true,
    path: '/f',
    version: 4,
  })
  await mirror.follow()
  expect((await ada.download('/f')).bytes.toString()).toBe('one')
  expect((await history(ada)).map(({ sha256 }) => sha256)).toEqual(['one', 'three', 'two two', 'one'].map(sha256Of))
})

test('makes way only while the present content is the expected one', async () => {
  const ada = await written()
  const [, , first] = await history(ada)
  const asked = { path: '/f', version_id: first!.version_id }
  expect(await outcome(ada.call(restore, { ...asked, if_sha256: sha256Of('two two') }))).toEqual([
    412,
    'precondition_failed',
  ])
  expect((await ada.download('/f')).bytes.toString()).toBe('three')
  expect(await history(ada)).toHaveLength(3)
  expect(await ada.ask(restore, { ...asked, if_sha256: sha256Of('three') })).toMatchObject({ version: 4 })
  expect((await ada.download('/f')).bytes.toString()).toBe('one')
})

test('belongs to its file and its owner', async () => {
  const ada = await written()
  const bob = await written()
  const version_id = (await history(ada))[1]!.version_id
  await bob.put('/g', 'g')
  const before = await commitsSeenBy(server.database)
  for (const path of ['/f', '/g', '/none']) {
    expect(await outcome(bob.call(download, { path, version_id }))).toEqual([404, 'not_found'])
    expect(await outcome(bob.call(restore, { path, version_id }))).toEqual([404, 'not_found'])
  }
  expect(await commitsSeenBy(server.database)).toBe(before)
  await ada.ask(filesystem.actions.delete, { path: '/f' })
  expect(await outcome(ada.call(download, { path: '/f', version_id }))).toEqual([404, 'not_found'])
})

test('counts when it comes back, to the last byte', async () => {
  const ada = await server.account({ quota: 10 })
  await ada.put('/f', '12345')
  await ada.put('/f', '1')
  await ada.put('/g', '123456')
  const version_id = (await history(ada))[1]!.version_id
  expect(await outcome(ada.call(restore, { path: '/f', version_id }))).toEqual([413, 'quota_exceeded'])
  await ada.ask(filesystem.actions.delete, { path: '/g' })
  await ada.put('/g', '12345')
  expect(await outcome(ada.call(restore, { path: '/f', version_id }))).toEqual([200, 'ok'])
  await mirrorOf(ada).follow()
})
