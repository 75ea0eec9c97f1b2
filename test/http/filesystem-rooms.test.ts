import { beforeEach, describe, expect, test } from 'vitest'
import { filesystem } from '../../src/contract/filesystem.ts'
import { syncFiles } from '../../src/contract/sync-files.ts'
import { trash } from '../../src/contract/trash.ts'
import { versions } from '../../src/contract/versions.ts'
import { forgetRoom } from '../../src/storage/files/room-files.ts'
import type { Account } from '../support/account.ts'
import { mirrorOf } from '../support/mirror.ts'
import { leaveRoom, makeRoom } from '../support/rooms.ts'
import { serverOfFile } from '../support/server.ts'
import { commitsSeenBy } from '../support/state.ts'

const fs = filesystem.actions

const server = await serverOfFile()
let ada: Account
let bob: Account
let eve: Account
let room: number
beforeEach(async () => {
  ada = await server.account()
  bob = await server.account()
  eve = await server.account()
  room = await makeRoom(server, 'Engines', ada, bob)
  await makeRoom(server, 'Elsewhere', eve)
})

const outcome = async (reply: ReturnType<Account['call']>) => {
  const { status, json } = await reply
  return [status, json['code'] ?? 'ok']
}

const put = (account: Account, path: string, content: string) => account.ask(fs.write, { path, content })
const text = async (account: Account, path: string) => (await account.ask(fs.read, { path })).content
const names = async (account: Account, path: string) =>
  (await account.ask(fs.list, { path })).items.map(({ name }) => name)
const used = async (account: Account) => (await account.ask(fs.quota, {})).used

describe('the folder of the chat rooms', () => {
  test('shows the rooms of the caller, each name once, and nothing else', async () => {
    await makeRoom(server, 'a/b\u0007\\c', ada)
    const second = await makeRoom(server, 'Engines', ada)
    expect(await names(ada, '/')).toEqual(['Teamchat'])
    expect(await names(ada, '/Teamchat')).toEqual(['Engines', `Engines (#${second})`, 'a_b__c'])
    expect(await names(bob, '/TEAMCHAT')).toEqual(['Engines'])
    expect(await names(eve, '/teamchat')).toEqual(['Elsewhere'])
    expect(await names(await server.account(), '/Teamchat')).toEqual([])
  })

  test('holds files of the room, which every member reads and writes', async () => {
    await put(ada, '/Teamchat/Engines/plans/one.txt', 'ada')
    expect(await names(bob, '/Teamchat/Engines')).toEqual(['plans'])
    expect(await text(bob, '/teamchat/Engines/plans/one.txt')).toBe('ada')
    await put(bob, '/Teamchat/Engines/plans/one.txt', 'bob wrote')
    expect(await text(ada, '/Teamchat/Engines/plans/one.txt')).toBe('bob wrote')
    await ada.ask(fs.move, { from: '/Teamchat/Engines/plans', to: '/TeamChat/Engines/old/plans' })
    await bob.ask(fs.copy, { from: '/Teamchat/Engines/old', to: '/Teamchat/Engines/new' })
    expect(await text(ada, '/Teamchat/Engines/new/plans/one.txt')).toBe('bob wrote')
    const reply = await bob.call(fs.download, { path: '/Teamchat/Engines/new/plans/one.txt' })
    expect([reply.status, reply.bytes.toString()]).toEqual([200, 'bob wrote'])
    // Of no feed, of no manifest, and not within reach of the sync API.
    for (const account of [ada, bob]) {
      expect((await account.delta(0)).changes).toEqual([])
      expect((await account.everything()).data['svc_files']).toEqual([])
      expect((await account.manifest()).files).toEqual([])
    }
    expect((await ada.download('/Teamchat/Engines/new/plans/one.txt')).status).toBe(404)
    expect(await outcome(ada.call(syncFiles.actions.mkdir, { path: '/Teamchat/Engines/x' }))).toEqual([400, 'bad_path'])
  })

  test('is no place of its own', async () => {
    await put(ada, '/mine.txt', 'mine')
    await put(ada, '/Teamchat/Engines/f', 'f')
    const before = await commitsSeenBy(server.database)
    for (const path of ['/Teamchat', '/TEAMCHAT', '/Teamchat/Engines']) {
      for (const action of [fs.mkdir, fs.delete, fs.trash])
        expect([path, action.name, ...(await outcome(ada.call(action, { path })))]).toEqual([
          path,
          action.name,
          403,
          'forbidden',
        ])
      expect(await outcome(ada.call(fs.write, { path, content: 'x' }))).toEqual([403, 'forbidden'])
      for (const action of [fs.move, fs.copy]) {
        expect((await outcome(ada.call(action, { from: path, to: '/x' })))[0]).toBe(403)
        expect((await outcome(ada.call(action, { from: '/mine.txt', to: path })))[0]).toBe(403)
        expect((await outcome(ada.call(action, { from: '/Teamchat/Engines/f', to: path })))[0]).toBe(403)
      }
    }
    expect(await outcome(ada.call(fs.mkdir, { path: '/Teamchat/New room' }))).toEqual([403, 'forbidden'])
    const data = new FormData()
    data.append('file', new Blob(['x']), 'x')
    expect(await outcome(ada.call(fs.upload, { path: '/Teamchat' }, { body: data }))).toEqual([403, 'forbidden'])
    expect(await commitsSeenBy(server.database)).toBe(before)
  })

  test.each(['/Teamchat ', '/ｔｅａｍｃｈａｔ', '/Team chat', '/Teamchat.d', '/x/Teamchat', '/Teamchät'])(
    'is not meant by %j, an ordinary name',
    async (path) => {
      await ada.ask(fs.mkdir, { path })
      await put(ada, `${path}/f`, 'own')
      expect((await ada.manifest()).files.map((file) => file.path)).toEqual([`${path}/f`])
    },
  )
})

describe('between the trees', () => {
  test('nothing is moved or copied, files and folders alike', async () => {
    await makeRoom(server, 'Other', ada)
    await put(ada, '/own/f', 'own')
    await put(ada, '/Teamchat/Engines/d/f', 'room')
    await put(ada, '/Teamchat/Other/f', 'other')
    const before = await commitsSeenBy(server.database)
    const pairs = [
      ['/own', '/Teamchat/Engines/own'],
      ['/own/f', '/Teamchat/Engines/f'],
      ['/own/f', '/Teamchat/Nowhere/f'],
      ['/Teamchat/Engines/d', '/d'],
      ['/Teamchat/Engines/d/f', '/f'],
      ['/Teamchat/Engines/d', '/Teamchat/Other/d'],
      ['/Teamchat/Other/f', '/Teamchat/Engines/f'],
    ] as const
    for (const action of [fs.move, fs.copy]) {
      for (const [from, to] of pairs)
        expect([from, to, ...(await outcome(ada.call(action, { from, to })))]).toEqual([from, to, 403, 'cross_domain'])
    }
    expect(await commitsSeenBy(server.database)).toBe(before)
  })
})

describe('who is not a member', () => {
  test('finds nothing, like in a room that does not exist, and loses access at once', async () => {
    await put(ada, '/Teamchat/Engines/f', 'secret')
    await put(bob, '/Teamchat/Engines/g', 'bob')
    await ada.ask(fs.trash, { path: '/Teamchat/Engines/f' })
    const [entry] = (await ada.ask(trash.actions.list, {})).items
    expect(entry!.path).toBe('/Teamchat/Engines/f')
    await leaveRoom(server, room, ada)
    const before = await commitsSeenBy(server.database)
    for (const account of [ada, eve]) {
      for (const folder of ['/Teamchat/Engines', '/Teamchat/Nowhere']) {
        const path = `${folder}/g`
        const calls = [
          account.call(fs.list, { path: folder }),
          account.call(fs.list, { path }),
          account.call(fs.read, { path }),
          account.call(fs.download, { path }),
          account.call(fs.write, { path, content: 'x' }),
          account.call(fs.mkdir, { path }),
          account.call(fs.delete, { path }),
          account.call(fs.trash, { path }),
          account.call(fs.trash, { path: folder }),
          account.call(fs.move, { from: path, to: `${folder}/h` }),
          account.call(fs.copy, { from: path, to: `${folder}/h` }),
          account.call(versions.actions.list, { path }),
          account.call(versions.actions.restore, { path, version_id: 1 }),
        ]
        for (const call of calls) expect(await outcome(call)).toEqual([404, 'not_found'])
      }
      expect((await account.ask(trash.actions.list, {})).items).toEqual([])
      expect(await outcome(account.call(trash.actions.restore, { id: entry!.id }))).toEqual([404, 'not_found'])
      expect(await outcome(account.call(trash.actions.delete, { id: entry!.id }))).toEqual([404, 'not_found'])
    }
    expect(await commitsSeenBy(server.database)).toBe(before)
    expect((await ada.ask(trash.actions.empty, {})).deleted).toBe(0)
  })
})

describe('the bytes of a room', () => {
  test('count for whoever stored them, and go back when they are replaced, deleted and restored', async () => {
    await put(ada, '/own', 'own')
    await put(ada, '/Teamchat/Engines/a', 'aaaa')
    await put(bob, '/Teamchat/Engines/b', 'bb')
    expect([await used(ada), await used(bob)]).toEqual([7, 2])
    await put(bob, '/Teamchat/Engines/a', 'bbbbb')
    expect([await used(ada), await used(bob)]).toEqual([3, 7])
    const history = await ada.ask(versions.actions.list, { path: '/Teamchat/Engines/a' })
    await ada.ask(versions.actions.restore, {
      path: '/Teamchat/Engines/a',
      version_id: history.versions[1]!.version_id,
    })
    expect([await used(ada), await used(bob)]).toEqual([7, 2])
    await bob.ask(fs.mkdir, { path: '/Teamchat/Engines/d' })
    await bob.ask(fs.move, { from: '/Teamchat/Engines/a', to: '/Teamchat/Engines/d/a' })
    await bob.ask(fs.move, { from: '/Teamchat/Engines/b', to: '/Teamchat/Engines/d/b' })
    await bob.ask(fs.trash, { path: '/Teamchat/Engines/d' })
    expect([await used(ada), await used(bob)]).toEqual([3, 0])
    const [entry] = (await bob.ask(trash.actions.list, {})).items
    expect(entry!.size).toBe(6)
    expect(await bob.ask(trash.actions.restore, { id: entry!.id })).toEqual({ ok: true, path: '/Teamchat/Engines/d' })
    expect([await used(ada), await used(bob)]).toEqual([7, 2])
    await ada.ask(fs.delete, { path: '/Teamchat/Engines/d' })
    expect([await used(ada), await used(bob)]).toEqual([3, 0])
    await mirrorOf(ada).follow()
    await mirrorOf(bob).follow()
  })

  test('are refused to whoever has no room left for them', async () => {
    const poor = await server.account({ quota: 4 })
    await makeRoom(server, 'Poor', poor, ada)
    await put(ada, '/Teamchat/Poor/ada', '12345')
    await put(poor, '/Teamchat/Poor/f', '1234')
    expect(await outcome(poor.call(fs.write, { path: '/Teamchat/Poor/g', content: 'x' }))).toEqual([
      413,
      'quota_exceeded',
    ])
    expect(await outcome(poor.call(fs.write, { path: '/Teamchat/Poor/ada', content: '12345' }))).toEqual([
      413,
      'quota_exceeded',
    ])
    expect([await used(poor), await text(poor, '/Teamchat/Poor/ada')]).toEqual([4, '12345'])
    // Moving what is there costs nobody anything, copying does.
    await poor.ask(fs.move, { from: '/Teamchat/Poor/ada', to: '/Teamchat/Poor/moved' })
    expect(await outcome(poor.call(fs.copy, { from: '/Teamchat/Poor/moved', to: '/Teamchat/Poor/copy' }))).toEqual([
      413,
      'quota_exceeded',
    ])
    // Somebody else's trash does not fill what its owner has used otherwise since.
    const owner = await server.account({ quota: 8 })
    await makeRoom(server, 'Owner', owner, ada)
    await put(owner, '/Teamchat/Owner/f', '1234')
    await ada.ask(fs.trash, { path: '/Teamchat/Owner/f' })
    await put(owner, '/own', '12345')
    const entry = (await ada.ask(trash.actions.list, {})).items.find(({ path }) => path === '/Teamchat/Owner/f')
    expect(await outcome(ada.call(trash.actions.restore, { id: entry!.id }))).toEqual([413, 'quota_exceeded'])
    expect(await used(owner)).toBe(5)
  })

  test('come back when the room goes', async () => {
    await put(ada, '/own', 'own')
    await put(ada, '/Teamchat/Engines/d/a', 'aaaa')
    await put(bob, '/Teamchat/Engines/d/b', 'bb')
    await put(bob, '/Teamchat/Engines/d/gone', 'gone')
    await bob.ask(fs.trash, { path: '/Teamchat/Engines/d/gone' })
    await server.database.write('instance', async (tx) => {
      await forgetRoom(tx, room)
      await tx.q.deleteFrom('rooms').where('id', '=', room).execute()
    })
    expect([await used(ada), await used(bob)]).toEqual([3, 0])
    expect((await bob.ask(trash.actions.list, {})).items).toEqual([])
    const left = await server.database.read.q.selectFrom('nodes').select('id').where('room_id', '=', room).execute()
    expect(left).toEqual([])
    expect(await outcome(ada.call(fs.list, { path: '/Teamchat/Engines' }))).toEqual([404, 'not_found'])
  })

  test('stay with the folders of somebody whose account goes, when others stored them', async () => {
    await ada.ask(fs.mkdir, { path: '/Teamchat/Engines/d' })
    await put(ada, '/Teamchat/Engines/d/a', 'aaaa')
    await put(bob, '/Teamchat/Engines/d/b', 'bb')
    await put(bob, '/Teamchat/Engines/d/c', 'c')
    await ada.ask(fs.trash, { path: '/Teamchat/Engines/d/c' })
    await server.local.domain.accounts.remove(ada.id)
    expect(await names(bob, '/Teamchat/Engines/d')).toEqual(['b'])
    expect(await used(bob)).toBe(2)
    const left = await server.database.read.q.selectFrom('nodes').select('name').where('room_id', '=', room).execute()
    expect(left.map(({ name }) => name).sort()).toEqual(['', 'b', 'd'])
  })
})
