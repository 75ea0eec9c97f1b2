import { beforeEach, describe, expect, test } from 'vitest'
import { filesystem } from '../../src/contract/filesystem.ts'
import { syncData } from '../../src/contract/sync-data.ts'
import { trash } from '../../src/contract/trash.ts'
import { versions } from '../../src/contract/versions.ts'
import type { Account } from '../support/account.ts'
import { askFor, stage } from '../support/assistant.ts'
import { channelOf, say } from '../support/chat.ts'
import { mirrorOf } from '../support/mirror.ts'
import { leaveRoom, makeRoom } from '../support/rooms.ts'
import { serverOfFile } from '../support/server.ts'
import { commitsSeenBy } from '../support/state.ts'

const fs = filesystem.actions

const server = await serverOfFile()
let ada: Account
let bob: Account
let cyd: Account
beforeEach(async () => {
  ada = await server.account()
  bob = await server.account()
  cyd = await server.account()
})

const accounts = () => server.local.domain.accounts
const put = (account: Account, path: string, content: string) => account.ask(fs.write, { path, content })
const text = async (account: Account, path: string) => (await account.ask(fs.read, { path })).content
const used = async (account: Account) => (await account.ask(fs.quota, {})).used
const folderOf = ({ username }: Account) => `/Files of ${username}`
const paths = async (account: Account) => (await account.manifest()).files.map(({ path }) => path).sort()

/** Rows that still say they are an account's, by table. */
async function traces(user: number): Promise<string[]> {
  const { q } = server.database.read
  const tables = [
    'nodes',
    'versions',
    'trash',
    'counters',
    'changes',
    'device_tokens',
    'messages',
    'room_members',
    'ended_memberships',
    'assistant_conversations',
    'assistant_confirmations',
    'assistant_usage',
    'assistant_mentions',
    'change_sets',
  ] as const
  const found: string[] = []
  for (const table of tables) {
    const rows = await q.selectFrom(table).select('user_id').where('user_id', '=', user).execute()
    if (rows.length > 0) found.push(table)
  }
  return found
}

describe('a removal that hands the files over', () => {
  test('makes them a folder of the heir, who is told in the feed, with all versions', async () => {
    const mirror = mirrorOf(bob)
    await bob.put('/own', 'own')
    await mirror.follow()
    await ada.put('/a', 'one')
    await ada.put('/a', 'two!')
    await ada.put('/d/e/b', 'bb')
    await ada.ask(fs.mkdir, { path: '/empty' })
    const { had, handed_over } = await accounts().remove(ada.id, { heir: bob.id })
    expect(had).toMatchObject({ files: 2, folders: 3, bytes: 6, trash: 0 })
    expect(handed_over).toEqual({
      folder: folderOf(ada),
      nodes: 5,
      bytes: 6,
      room_files: 0,
      room_bytes: 0,
      used_bytes: 9,
      quota_bytes: -1,
    })
    await mirror.follow()
    const folder = folderOf(ada)
    expect(await paths(bob)).toEqual([`${folder}/a`, `${folder}/d/e/b`, '/own'])
    expect((await bob.manifest()).directories).toContain(`${folder}/empty`)
    expect((await bob.download(`${folder}/a`)).bytes.toString()).toBe('two!')
    const { versions: kept } = await bob.ask(versions.actions.list, { path: `${folder}/a` })
    expect(kept.map(({ size, current }) => [size, current])).toEqual([
      [4, true],
      [3, false],
    ])
    await bob.ask(versions.actions.restore, { path: `${folder}/a`, version_id: kept[1]!.version_id })
    expect(await text(bob, `${folder}/a`)).toBe('one')
    await mirror.follow()
    expect((await ada.call(fs.quota)).status).toBe(401)
    expect(await traces(ada.id)).toEqual([])
  })

  test('leaves the trash behind, also what was deleted inside of a folder that is handed over', async () => {
    await ada.put('/d/kept', 'k')
    await ada.put('/d/gone', 'gone')
    await ada.put('/x/gone', 'gone')
    await ada.ask(fs.trash, { path: '/d/gone' })
    await ada.ask(fs.trash, { path: '/x' })
    const { handed_over } = await accounts().remove(ada.id, { heir: bob.id })
    expect(handed_over).toMatchObject({ nodes: 2, bytes: 1, used_bytes: 1 })
    expect(await paths(bob)).toEqual([`${folderOf(ada)}/d/kept`])
    expect((await bob.ask(trash.actions.list, {})).items).toEqual([])
    expect(await traces(ada.id)).toEqual([])
    await mirrorOf(bob).follow()
  })

  test('finds a name that is free, always the same way', async () => {
    const folder = folderOf(ada)
    await bob.put(`${folder}/mine`, 'mine')
    await bob.put(`${folder} (2)`, 'mine too')
    await bob.ask(fs.mkdir, { path: `${folder} (3)` })
    await bob.ask(fs.trash, { path: `${folder} (3)` })
    await ada.put('/a', 'a')
    expect((await accounts().planRemoval(ada.id, { heir: bob.id })).hands_over).toMatchObject({
      folder: `${folder} (3)`,
    })
    expect((await accounts().remove(ada.id, { heir: bob.id })).handed_over).toMatchObject({ folder: `${folder} (3)` })
    expect(await paths(bob)).toEqual([`${folder} (2)`, `${folder} (3)/a`, `${folder}/mine`])
    await mirrorOf(bob).follow()
  })

  test('does not stop at the quota of the heir, and says what that comes to', async () => {
    const poor = await server.account({ quota: 3 })
    await ada.put('/a', 'aaaa')
    const expected = { used_bytes: 4, quota_bytes: 3 }
    expect((await accounts().planRemoval(ada.id, { heir: poor.id })).hands_over).toMatchObject(expected)
    expect((await accounts().remove(ada.id, { heir: poor.id })).handed_over).toMatchObject(expected)
    expect(await text(poor, `${folderOf(ada)}/a`)).toBe('aaaa')
    expect((await poor.upload('/b', 'b')).json['code']).toBe('quota_exceeded')
    expect((await poor.call(fs.delete, { path: folderOf(ada) })).status).toBe(200)
    expect(await used(poor)).toBe(0)
  })

  test('makes no folder where there is nothing, and goes to somebody who is disabled as well', async () => {
    await accounts().disable(bob.id)
    expect((await accounts().remove(ada.id, { heir: bob.id })).handed_over).toMatchObject({
      folder: null,
      nodes: 0,
      used_bytes: 0,
    })
    const nodes = await server.database.read.q
      .selectFrom('nodes')
      .select('name')
      .where('user_id', '=', bob.id)
      .execute()
    expect(nodes).toEqual([{ name: '' }])
  })

  test('is refused when a path would have no name any more, and then nothing changes', async () => {
    const deep = `/${Array.from({ length: 64 }, () => 'd').join('/')}`
    await ada.put(deep, 'deep')
    const commits = await commitsSeenBy(server.database)
    for (const act of ['planRemoval', 'remove'] as const) {
      await expect(accounts()[act](ada.id, { heir: bob.id })).rejects.toMatchObject({ code: 'conflict' })
    }
    expect(await commitsSeenBy(server.database)).toBe(commits)
    expect(await paths(ada)).toEqual([deep])
    await accounts().remove(ada.id)
  })

  test('is refused to the account itself and to nobody, and then nothing changes', async () => {
    await ada.put('/a', 'a')
    await expect(accounts().remove(ada.id, { heir: ada.id })).rejects.toMatchObject({ code: 'bad_request' })
    await expect(accounts().remove(ada.id, { heir: 999_999 })).rejects.toMatchObject({ code: 'not_found' })
    expect(await paths(ada)).toEqual(['/a'])
  })

  test('happens once, whoever else removes the account or the heir at the same moment', async () => {
    await ada.put('/a', 'a')
    const attempts = [accounts().remove(ada.id, { heir: bob.id }), accounts().remove(ada.id, { heir: cyd.id })]
    const settled = await Promise.allSettled(attempts)
    expect(settled.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect([...(await paths(bob)), ...(await paths(cyd))]).toEqual([`${folderOf(ada)}/a`])
    const crossed = [accounts().remove(bob.id, { heir: cyd.id }), accounts().remove(cyd.id, { heir: bob.id })]
    expect((await Promise.allSettled(crossed)).map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  })

  test('wakes the heir who waits for news', async () => {
    await ada.put('/a', 'a')
    const { cursor } = await bob.delta(0)
    const waiting = bob.ask(syncData.actions.delta, { cursor, wait: 55 })
    await accounts().remove(ada.id, { heir: bob.id })
    const first = await waiting
    const rest = await bob.delta(first.cursor)
    const names = [...first.changes, ...rest.changes].map(({ data }) => (data as { name?: string }).name)
    expect(names).toEqual([folderOf(ada).slice(1), 'a'])
  })
})

describe('files in rooms of somebody who is removed', () => {
  test('stay there with their versions and count for the heir, who need not be a member', async () => {
    await makeRoom(server, 'Engines', ada, cyd)
    await put(ada, '/Teamchat/Engines/d/a', 'old')
    await put(ada, '/Teamchat/Engines/d/a', 'newer')
    await put(cyd, '/Teamchat/Engines/d/c', 'cc')
    await put(ada, '/own', 'own')
    const plan = await accounts().planRemoval(ada.id, { heir: bob.id })
    expect(plan.has).toMatchObject({ files: 1, bytes: 3, room_files: 1, room_bytes: 5, rooms: 1, rooms_alone: 0 })
    const { handed_over } = await accounts().remove(ada.id, { heir: bob.id })
    expect(handed_over).toMatchObject({ nodes: 1, bytes: 3, room_files: 1, room_bytes: 5, used_bytes: 8 })
    expect(await text(cyd, '/Teamchat/Engines/d/a')).toBe('newer')
    const { versions: kept } = await cyd.ask(versions.actions.list, { path: '/Teamchat/Engines/d/a' })
    expect(kept.map(({ size }) => size)).toEqual([5, 3])
    expect([await used(bob), await used(cyd)]).toEqual([8, 2])
    expect((await bob.call(fs.list, { path: '/Teamchat/Engines' })).status).toBe(404)
    await mirrorOf(bob).follow({ elsewhere: 5 })
    await cyd.ask(fs.delete, { path: '/Teamchat/Engines/d' })
    expect([await used(bob), await used(cyd)]).toEqual([3, 0])
    expect(await traces(ada.id)).toEqual([])
  })

  test('stay where others have put them into their trash, and come back at the cost of the heir', async () => {
    await makeRoom(server, 'Engines', ada, cyd)
    await put(ada, '/Teamchat/Engines/d/a', 'aaaa')
    await put(ada, '/Teamchat/Engines/b', 'bb')
    await cyd.ask(fs.trash, { path: '/Teamchat/Engines/d' })
    await ada.ask(fs.trash, { path: '/Teamchat/Engines/b' })
    expect((await accounts().remove(ada.id, { heir: bob.id })).handed_over).toMatchObject({
      room_files: 0,
      used_bytes: 0,
    })
    const { items } = await cyd.ask(trash.actions.list, {})
    expect(items.map(({ path }) => path)).toEqual(['/Teamchat/Engines/d'])
    await cyd.ask(trash.actions.restore, { id: items[0]!.id })
    expect(await text(cyd, '/Teamchat/Engines/d/a')).toBe('aaaa')
    expect([await used(bob), await used(cyd)]).toEqual([4, 0])
  })

  test('go with rooms that nobody else is in, heir or not', async () => {
    const room = await makeRoom(server, 'Alone', ada, cyd)
    await put(cyd, '/Teamchat/Alone/c', 'cc')
    await put(ada, '/Teamchat/Alone/a', 'a')
    await leaveRoom(server, room, cyd)
    expect((await accounts().planRemoval(ada.id, { heir: bob.id })).has).toMatchObject({
      room_files: 0,
      rooms: 1,
      rooms_alone: 1,
    })
    expect((await accounts().remove(ada.id, { heir: bob.id })).handed_over).toMatchObject({
      room_files: 0,
      used_bytes: 0,
    })
    expect([await used(bob), await used(cyd)]).toEqual([0, 0])
    const { q } = server.database.read
    expect(await q.selectFrom('nodes').select('id').where('room_id', '=', room).execute()).toEqual([])
    expect(await q.selectFrom('rooms').select('id').where('id', '=', room).execute()).toEqual([])
  })

  test('go without an heir, and what others stored stays', async () => {
    await makeRoom(server, 'Engines', ada, cyd)
    await put(ada, '/Teamchat/Engines/d/a', 'aaaa')
    await put(cyd, '/Teamchat/Engines/d/c', 'cc')
    await accounts().remove(ada.id)
    expect((await cyd.ask(fs.list, { path: '/Teamchat/Engines/d' })).items.map(({ name }) => name)).toEqual(['c'])
    expect(await used(cyd)).toBe(2)
  })
})

test('a plan counts what goes, is what the removal then tells, and changes nothing', async () => {
  await ada.put('/d/a', 'aaaa')
  await ada.put('/gone', 'g')
  await ada.ask(fs.trash, { path: '/gone' })
  await ada.push({ table: 'svc_notes', operation: 'INSERT', data: { title: 'Milk' } })
  await ada.push({ table: 'svc_tasks', operation: 'INSERT', data: { title: 'Buy it' } })
  const room = await channelOf(ada, cyd)
  await channelOf(ada)
  await say(ada, room, 'hello')
  await say(cyd, room, 'hello yourself')
  await put(ada, '/Teamchat/Engines/r', 'rr')
  await ada.another()
  const before = await commitsSeenBy(server.database)
  const { has, hands_over } = await accounts().planRemoval(ada.id)
  expect(await commitsSeenBy(server.database)).toBe(before)
  expect(has).toEqual({
    files: 1,
    folders: 1,
    bytes: 4,
    trash: 1,
    rows: 2,
    messages: 1,
    room_files: 1,
    room_bytes: 2,
    rooms: 2,
    rooms_alone: 1,
    conversations: 0,
    devices: 2,
    sessions: 0,
  })
  expect(hands_over).toBeUndefined()
  expect(await accounts().remove(ada.id)).toEqual({ had: has, messages_kept: 0, handed_over: undefined })
  await expect(accounts().planRemoval(ada.id)).rejects.toMatchObject({ code: 'not_found' })
})

test('conversations with the assistant are counted and go, with all that belongs to them', async () => {
  const { server, model, ada } = await stage()
  model.will(
    { calls: [{ name: 'write_file', arguments: { path: '/a.txt', content: 'a' } }] },
    { text: 'Done.' },
    { calls: [{ name: 'list_files', arguments: { path: '/' } }] },
    { calls: [{ name: 'read_file', arguments: { path: '/a.txt' } }] },
    { calls: [{ name: 'delete_file', arguments: { path: '/a.txt' } }] },
  )
  await askFor(ada, { message: 'Write something' })
  expect((await askFor(ada, { message: 'Delete it' })).actions).toMatchObject([{ type: 'confirm' }])
  const kept = await server.account()
  await askFor(kept, { message: 'Hello' })
  const { domain } = server.local
  expect((await domain.accounts.planRemoval(ada.id)).has).toMatchObject({ conversations: 2 })
  expect((await domain.accounts.remove(ada.id)).had).toMatchObject({ conversations: 2 })
  const rows = async (table: (typeof ofAssistant)[number]) =>
    (await server.database.read.q.selectFrom(table).selectAll().execute()).length
  expect(Object.fromEntries(await Promise.all(ofAssistant.map(async (table) => [table, await rows(table)])))).toEqual({
    assistant_conversations: 1,
    assistant_messages: 2,
    assistant_confirmations: 0,
    assistant_usage: 1,
    change_sets: 0,
    change_set_items: 0,
  })
})

const ofAssistant = [
  'assistant_conversations',
  'assistant_messages',
  'assistant_confirmations',
  'assistant_usage',
  'change_sets',
  'change_set_items',
] as const
