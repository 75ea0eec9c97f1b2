import { expect, test } from 'vitest'
import { DAY } from '../../src/base/clock.ts'
import { filesystem } from '../../src/contract/filesystem.ts'
import { trash } from '../../src/contract/trash.ts'
import type { Account } from '../support/account.ts'
import { sha256Of } from '../support/contents.ts'
import { mirrorOf } from '../support/mirror.ts'
import { serverOfTest, serverOfFile } from '../support/server.ts'
import { commitsSeenBy } from '../support/state.ts'

const fs = filesystem.actions
const { list, restore, delete: remove, empty } = trash.actions

const server = await serverOfFile()

const outcome = async (reply: ReturnType<Account['call']>) => {
  const { status, json } = await reply
  return [status, json['code'] ?? 'ok']
}

const items = async (account: Account) => (await account.ask(list, {})).items
const idOf = async (account: Account, path: string) => (await items(account)).find((item) => item.path === path)!.id
const paths = async (account: Account) => (await account.manifest()).files.map(({ path }) => path).sort()

test('what is deleted stands in the trash with its whole size, newest first, and comes back whole', async () => {
  const ada = await server.account()
  const mirror = mirrorOf(ada)
  await ada.put('/d/a', 'aaa')
  await ada.put('/d/e/b', 'bb')
  await ada.put('/f', 'f')
  await mirror.follow()
  expect(await ada.ask(fs.trash, { path: '/d' })).toEqual({ ok: true, path: '/d' })
  await ada.ask(fs.trash, { path: '/f' })
  await mirror.follow()
  const times = { deleted_at: '2026-11-21T12:00:00.000Z', expires_at: '2026-12-21T12:00:00.000Z' }
  const found = await items(ada)
  expect(found).toEqual([
    { id: found[0]!.id, path: '/f', name: 'f', type: 'file', size: 1, sha256: sha256Of('f'), ...times },
    { id: found[1]!.id, path: '/d', name: 'd', type: 'directory', size: 5, ...times },
  ])
  expect(await ada.ask(restore, { id: found[1]!.id })).toEqual({ ok: true, path: '/d' })
  await mirror.follow()
  expect(await paths(ada)).toEqual(['/d/a', '/d/e/b'])
  expect((await items(ada)).map(({ path }) => path)).toEqual(['/f'])
  expect(await outcome(ada.call(restore, { id: found[1]!.id }))).toEqual([404, 'not_found'])
  expect(await outcome(ada.call(fs.trash, { path: '/none' }))).toEqual([404, 'not_found'])
})

test('what comes back is new to a client that saw it go, and to one that never saw it', async () => {
  const ada = await server.account()
  await ada.put('/d/a', 'aaa')
  const { cursor: seen } = await ada.delta(0)
  await ada.ask(fs.trash, { path: '/d' })
  const { cursor: gone } = await ada.delta(seen)
  await ada.ask(restore, { id: await idOf(ada, '/d') })
  for (const since of [0, seen, gone]) {
    const { changes } = await ada.delta(since)
    expect(changes.map(({ operation, data }) => [operation, data['name']])).toEqual([
      ['INSERT', 'd'],
      ['INSERT', 'a'],
    ])
  }
})

test('a taken place is refused, and another one serves', async () => {
  const ada = await server.account()
  await ada.put('/d/a', 'old')
  await ada.ask(fs.trash, { path: '/d' })
  await ada.put('/d/a', 'new')
  const id = await idOf(ada, '/d')
  const before = await commitsSeenBy(server.database)
  expect(await outcome(ada.call(restore, { id }))).toEqual([409, 'exists'])
  expect(await outcome(ada.call(restore, { id, to: '/d/a' }))).toEqual([409, 'exists'])
  expect(await outcome(ada.call(restore, { id, to: '/d/a/x' }))).toEqual([409, 'exists'])
  expect(await outcome(ada.call(restore, { id, to: '/' }))).toEqual([400, 'bad_path'])
  expect(await outcome(ada.call(restore, { id, to: '/Teamchat/x' }))).toEqual([403, 'forbidden'])
  expect(await outcome(ada.call(restore, { id, to: `/${Array(64).fill('x').join('/')}` }))).toEqual([400, 'bad_path'])
  expect(await commitsSeenBy(server.database)).toBe(before)
  expect(await ada.ask(restore, { id, to: '/d/inside/d' })).toEqual({ ok: true, path: '/d/inside/d' })
  expect(await paths(ada)).toEqual(['/d/a', '/d/inside/d/a'])
  await mirrorOf(ada).follow()
})

test('what was deleted before its folder comes back before or after it', async () => {
  const deleted = async () => {
    const ada = await server.account()
    await ada.put('/d/a', 'a1')
    await ada.put('/d/b', 'b')
    await ada.ask(fs.trash, { path: '/d/a' })
    await ada.ask(fs.trash, { path: '/d' })
    return ada
  }
  const ada = await deleted()
  await ada.ask(restore, { id: await idOf(ada, '/d') })
  await mirrorOf(ada).follow()
  await ada.ask(restore, { id: await idOf(ada, '/d/a') })
  expect(await paths(ada)).toEqual(['/d/a', '/d/b'])
  await mirrorOf(ada).follow()

  const bob = await deleted()
  await bob.ask(restore, { id: await idOf(bob, '/d/a') })
  await mirrorOf(bob).follow()
  // The folder made anew for the file stands where the old one was.
  const id = await idOf(bob, '/d')
  expect(await outcome(bob.call(restore, { id }))).toEqual([409, 'exists'])
  await bob.ask(restore, { id, to: '/d2' })
  expect(await paths(bob)).toEqual(['/d/a', '/d2/b'])
  await mirrorOf(bob).follow()
})

test('an entry deleted for good takes nothing with it that is an entry of its own', async () => {
  const ada = await server.account()
  await ada.put('/d/e/a', 'a')
  await ada.ask(fs.trash, { path: '/d/e/a' })
  await ada.ask(fs.trash, { path: '/d/e' })
  await ada.ask(fs.trash, { path: '/d' })
  expect(await ada.ask(remove, { id: await idOf(ada, '/d') })).toEqual({ ok: true })
  expect((await items(ada)).map(({ path }) => path)).toEqual(['/d/e', '/d/e/a'])
  await ada.ask(remove, { id: await idOf(ada, '/d/e') })
  await ada.ask(restore, { id: await idOf(ada, '/d/e/a') })
  expect(await paths(ada)).toEqual(['/d/e/a'])
  expect(await items(ada)).toEqual([])
  await mirrorOf(ada).follow()
})

test('the trash can be emptied, which leaves that of others', async () => {
  const ada = await server.account()
  const bob = await server.account()
  for (const account of [ada, bob]) {
    await account.put('/d/a', 'a')
    await account.ask(fs.trash, { path: '/d/a' })
    await account.ask(fs.trash, { path: '/d' })
  }
  const id = await idOf(bob, '/d')
  expect(await outcome(ada.call(restore, { id }))).toEqual([404, 'not_found'])
  expect(await outcome(ada.call(remove, { id }))).toEqual([404, 'not_found'])
  expect(await ada.ask(empty, {})).toEqual({ ok: true, deleted: 2 })
  expect(await ada.ask(empty, {})).toEqual({ ok: true, deleted: 0 })
  expect([(await items(ada)).length, (await items(bob)).length]).toEqual([0, 2])
})

test('what comes back counts, to the last byte', async () => {
  const ada = await server.account({ quota: 10 })
  await ada.put('/d/a', '12345')
  await ada.ask(fs.trash, { path: '/d' })
  await ada.put('/b', '123456')
  const id = await idOf(ada, '/d')
  expect(await outcome(ada.call(restore, { id }))).toEqual([413, 'quota_exceeded'])
  await ada.ask(fs.delete, { path: '/b' })
  await ada.put('/b', '12345')
  expect(await outcome(ada.call(restore, { id }))).toEqual([200, 'ok'])
  await mirrorOf(ada).follow()
})

test('is emptied by time, entry by entry, with versions of what went', async () => {
  const one = await serverOfTest()
  const ada = await one.account()
  await ada.put('/d/a', 'one')
  await ada.put('/d/a', 'two')
  await ada.put('/d/b', 'b')
  await ada.ask(fs.trash, { path: '/d/a' })
  one.clock.pass(20 * DAY)
  await ada.ask(fs.trash, { path: '/d' })
  one.clock.pass(10 * DAY + 1)
  expect(await one.local.domain.instance.upkeep()).toMatchObject({ trash: 1 })
  expect((await items(ada)).map(({ path }) => path)).toEqual(['/d'])
  expect(await one.database.read.q.selectFrom('versions').select('id').execute()).toEqual([])
  // A clock that was set back puts an older entry inside a younger one.
  await ada.ask(restore, { id: await idOf(ada, '/d') })
  await ada.put('/d/late', 'late')
  await ada.ask(fs.trash, { path: '/d/late' })
  one.clock.pass(-15 * DAY)
  await ada.ask(fs.trash, { path: '/d' })
  one.clock.pass(34 * DAY)
  await one.local.domain.instance.upkeep()
  one.clock.pass(DAY)
  expect(await one.local.domain.instance.upkeep()).toMatchObject({ trash: 1 })
  expect((await items(ada)).map(({ path }) => path)).toEqual(['/d/late'])
  await ada.ask(restore, { id: await idOf(ada, '/d/late') })
  expect(await paths(ada)).toEqual(['/d/late'])
  await mirrorOf(ada).follow()
})
