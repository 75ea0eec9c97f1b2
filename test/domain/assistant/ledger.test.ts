import { describe, expect, test } from 'vitest'
import { DAY } from '../../../src/base/clock.ts'
import { isFault } from '../../../src/contract/errors.ts'
import type { Account } from '../../support/account.ts'
import { channelOf } from '../../support/chat.ts'
import { makeClock } from '../../support/clock.ts'
import { serverOfFile, serverOfTest } from '../../support/server.ts'
import { benchOn } from './world.ts'

const server = await serverOfFile()
const bench = benchOn(server)

/** Paths with what they hold; folders end in a slash. */
async function treeOf(account: Account): Promise<Record<string, string>> {
  const { files, directories } = await account.manifest()
  const texts = await Promise.all(
    files.map(async ({ path }) => [path, (await account.download(path)).bytes.toString()] as const),
  )
  return Object.fromEntries([...texts, ...directories.map((path) => [`${path}/`, ''] as const)].sort())
}

const rowsOf = async (account: Account) => {
  const { data } = await account.everything()
  return { notes: data['svc_notes'], tasks: data['svc_tasks'] }
}

const statuses = (items: { status: string }[]): string[] => items.map(({ status }) => status)

test('undo puts back everything an answer changed, and undo of the undo brings it again', async () => {
  const ada = await server.account()
  await ada.put('/keep.txt', 'kept')
  await ada.put('/old/a.txt', 'first')
  await ada.put('/old/b/c.txt', 'deep')
  const { results } = await ada.push({
    table: 'svc_notes',
    operation: 'INSERT',
    data: { title: 'Plan', content: 'v1' },
  })
  const row = results[0]!.id!
  const before = {
    tree: await treeOf(ada),
    rows: (await rowsOf(ada)).notes!.map(({ title, content }) => [title, content]),
  }

  const { use, changeSet } = await bench.session(ada)
  await use('write_file', { path: '/new/deep/x.txt', content: 'x' })
  await use('replace_file', { path: '/old/a.txt', content: 'second' })
  await use('replace_file', { path: '/old/a.txt', content: 'third' })
  await use('move_file', { from: '/old/a.txt', to: '/moved/a.txt' })
  await use('copy_file', { from: '/old/b', to: '/copied' })
  await use('delete_file', { path: '/old' })
  await use('make_folder', { path: '/empty' })
  await use('insert_row', { table: 'svc_tasks', values: { title: 'Oil the cogs' } })
  await use('update_row', { table: 'svc_notes', id: row, values: { content: 'v2' } })
  await use('save_component', { component_id: 'dock', component_type: 'css', code: 'a{}' })
  const after = { tree: await treeOf(ada), rows: await rowsOf(ada) }
  expect(after.tree).toEqual({
    '/copied/': '',
    '/copied/c.txt': 'deep',
    '/empty/': '',
    '/keep.txt': 'kept',
    '/moved/': '',
    '/moved/a.txt': 'third',
    '/new/': '',
    '/new/deep/': '',
    '/new/deep/x.txt': 'x',
  })

  const undone = await bench.ledger.undo({ user: ada.id, allowsCode: true }, changeSet.id()!)
  expect(new Set(statuses(undone.items))).toEqual(new Set(['undone']))
  expect(undone.items[0]).toMatchObject({ kind: 'component', target: 'dock' })
  expect(await treeOf(ada)).toEqual(before.tree)
  expect((await rowsOf(ada)).tasks).toEqual([])
  expect((await rowsOf(ada)).notes!.map(({ title, content }) => [title, content])).toEqual(before.rows)
  expect(await server.local.domain.desktop.components.list(ada.id)).toEqual([])

  const again = await bench.ledger.undo({ user: ada.id, allowsCode: true }, undone.change_set_id!)
  expect(new Set(statuses(again.items))).toEqual(new Set(['undone']))
  expect(await treeOf(ada)).toEqual(after.tree)
  expect((await rowsOf(ada)).tasks).toMatchObject([{ title: 'Oil the cogs' }])
  expect((await rowsOf(ada)).notes).toMatchObject([{ content: 'v2' }])
  expect(await server.local.domain.desktop.components.list(ada.id)).toMatchObject([{ code: 'a{}' }])
})

test('undoing twice, also at the same moment, undoes once', async () => {
  const ada = await server.account()
  const { use, changeSet } = await bench.session(ada)
  await use('write_file', { path: '/a.txt', content: 'a' })
  await use('write_file', { path: '/b.txt', content: 'b' })
  const both = await Promise.all([
    bench.ledger.undo({ user: ada.id, allowsCode: true }, changeSet.id()!),
    bench.ledger.undo({ user: ada.id, allowsCode: true }, changeSet.id()!),
  ])
  expect(both.flatMap(({ items }) => statuses(items)).sort()).toEqual(['already', 'already', 'undone', 'undone'])
  const third = await bench.ledger.undo({ user: ada.id, allowsCode: true }, changeSet.id()!)
  expect(third).toMatchObject({ change_set_id: null })
  expect(statuses(third.items)).toEqual(['already', 'already'])
  expect(await treeOf(ada)).toEqual({})
  expect((await server.local.domain.files.trash.list(ada.id)).map(({ path }) => path).sort()).toEqual([
    '/a.txt',
    '/b.txt',
  ])
})

describe('what changed since stays, and is said', () => {
  test('files and folders', async () => {
    const ada = await server.account()
    await ada.put('/replaced.txt', 'mine')
    await ada.put('/gone.txt', 'mine')
    await ada.put('/dir/a.txt', 'a')
    const { use, changeSet } = await bench.session(ada)
    await use('write_file', { path: '/edited.txt', content: 'by the assistant' })
    await use('replace_file', { path: '/replaced.txt', content: 'by the assistant' })
    await use('delete_file', { path: '/gone.txt' })
    await use('copy_file', { from: '/dir', to: '/dir2' })
    await use('write_file', { path: '/fine.txt', content: 'fine' })
    await ada.put('/edited.txt', 'by me')
    await ada.put('/replaced.txt', 'by me')
    await ada.put('/gone.txt', 'another')
    await ada.put('/dir2/more.txt', 'mine')

    const { items } = await bench.ledger.undo({ user: ada.id, allowsCode: true }, changeSet.id()!)
    expect(items.map(({ target, status, reason = '' }) => [target, status, reason])).toEqual([
      ['/fine.txt', 'undone', ''],
      ['/dir2', 'refused', 'It has changed since.'],
      ['/gone.txt', 'refused', 'Something with that name exists already.'],
      ['/replaced.txt', 'refused', 'It has changed since.'],
      ['/edited.txt', 'refused', 'It has changed since.'],
    ])
    expect(await treeOf(ada)).toMatchObject({
      '/edited.txt': 'by me',
      '/replaced.txt': 'by me',
      '/gone.txt': 'another',
    })
    // What stood in the way is gone: the rest can follow.
    await server.local.domain.files.remove(ada.id, '/gone.txt')
    const more = await bench.ledger.undo({ user: ada.id, allowsCode: true }, changeSet.id()!)
    expect(statuses(more.items)).toEqual(['already', 'refused', 'undone', 'refused', 'refused'])
    expect(await treeOf(ada)).toMatchObject({ '/gone.txt': 'mine' })
  })

  test('rows', async () => {
    const ada = await server.account()
    const { use, changeSet } = await bench.session(ada)
    await use('insert_row', { table: 'svc_notes', values: { title: 'One' } })
    await use('insert_row', { table: 'svc_notes', values: { title: 'Two' } })
    const [one, two] = (await rowsOf(ada)).notes!
    await ada.push({ table: 'svc_notes', operation: 'UPDATE', data: { id: one!.id, title: 'Mine' } })
    await ada.push({ table: 'svc_notes', operation: 'DELETE', data: { id: two!.id } })
    const { items, change_set_id } = await bench.ledger.undo({ user: ada.id, allowsCode: true }, changeSet.id()!)
    expect(items).toMatchObject([
      { status: 'refused', reason: 'The row has been removed since.' },
      { status: 'refused', reason: 'The row has changed since.' },
    ])
    expect(change_set_id).toBeNull()
    expect((await rowsOf(ada)).notes).toMatchObject([{ title: 'Mine' }])
  })

  test('components', async () => {
    const ada = await server.account()
    const { components } = server.local.domain.desktop
    await components.save(
      { user: ada.id, allowsCode: true },
      { component_id: 'dock', component_type: 'css', code: 'mine' },
    )
    const { use, changeSet } = await bench.session(ada)
    await use('save_component', { component_id: 'dock', component_type: 'css', code: 'theirs' })
    await components.save(
      { user: ada.id, allowsCode: true },
      { component_id: 'dock', component_type: 'css', code: 'newest' },
    )
    expect(statuses((await bench.ledger.undo({ user: ada.id, allowsCode: true }, changeSet.id()!)).items)).toEqual([
      'refused',
    ])
    expect(await components.get(ada.id, 'dock')).toMatchObject({ code: 'newest' })
    await components.activate({ user: ada.id, allowsCode: true }, 'dock', 2)
    expect(statuses((await bench.ledger.undo({ user: ada.id, allowsCode: true }, changeSet.id()!)).items)).toEqual([
      'undone',
    ])
    expect(await components.get(ada.id, 'dock')).toMatchObject({ code: 'mine' })
  })

  test('a room that was left', async () => {
    const [ada, charles] = [await server.account(), await server.account()]
    const room = await channelOf(charles, ada)
    const { use, changeSet } = await bench.session(ada)
    await use('write_file', { path: '/Teamchat/Engines/plan.txt', content: 'plan' })
    await server.local.domain.chat.leave(
      { id: ada.id, username: ada.username, display_name: '', avatar_color: '', role: 'user' },
      room,
    )
    expect((await bench.ledger.undo({ user: ada.id, allowsCode: true }, changeSet.id()!)).items).toMatchObject([
      { status: 'refused' },
    ])
    expect(await server.local.domain.files.desktop.text(charles.id, '/Teamchat/Engines/plan.txt')).toBe('plan')
  })
})

test('a file of a room that was deleted comes back there', async () => {
  const ada = await server.account()
  await channelOf(ada)
  const { use, changeSet } = await bench.session(ada)
  await use('write_file', { path: '/Teamchat/Engines/a/plan.txt', content: 'plan' })
  await use('delete_file', { path: '/Teamchat/Engines/a/plan.txt' })
  expect(statuses((await bench.ledger.undo({ user: ada.id, allowsCode: true }, changeSet.id()!)).items)).toEqual([
    'undone',
    'undone',
    'undone',
  ])
  expect(await server.local.domain.files.desktop.list(ada.id, '/Teamchat/Engines')).toEqual([])
})

test('nobody sees or undoes the changes of somebody else', async () => {
  const [ada, eve] = [await server.account(), await server.account()]
  const { use, changeSet } = await bench.session(ada)
  await use('write_file', { path: '/a.txt', content: 'a' })
  expect((await bench.ledger.list(eve.id, {})).changes).toEqual([])
  const refusal = await bench.ledger
    .undo({ user: eve.id, allowsCode: true }, changeSet.id()!)
    .catch((error: unknown) => error)
  expect(isFault(refusal, 'not_found')).toBe(true)
  expect(await treeOf(ada)).toEqual({ '/a.txt': 'a' })
})

test('a change that fails leaves no trace, and an answer without changes no set', async () => {
  const ada = await server.account({ quota: 4 })
  const { use, changeSet } = await bench.session(ada)
  expect(await use('write_file', { path: '/a/b.txt', content: 'too long' })).toMatchObject({ fault: 'quota_exceeded' })
  await use('list_files', { path: '/' })
  expect(changeSet.id()).toBeUndefined()
  expect((await bench.ledger.list(ada.id, {})).changes).toEqual([])
  expect(await treeOf(ada)).toEqual({})
})

test('lists sets page by page, newest first', async () => {
  const ada = await server.account()
  for (const each of [1, 2, 3])
    await (await bench.session(ada)).use('write_file', { path: `/${each}.txt`, content: 'x' })
  const first = await bench.ledger.list(ada.id, { limit: 2 })
  expect(first.has_more).toBe(true)
  expect(first.changes.map(({ items }) => items)).toEqual([
    [{ kind: 'made', target: '/3.txt', undone: false }],
    [{ kind: 'made', target: '/2.txt', undone: false }],
  ])
  const rest = await bench.ledger.list(ada.id, { limit: 2, before: first.changes[1]!.change_set_id })
  expect(rest).toMatchObject({ has_more: false, changes: [{ items: [{ target: '/1.txt' }] }] })
  await bench.ledger.undo({ user: ada.id, allowsCode: true }, first.changes[0]!.change_set_id)
  const [undo, last] = (await bench.ledger.list(ada.id, {})).changes
  expect(undo).toMatchObject({ undoes: last!.change_set_id, items: [{ kind: 'trashed', target: '/3.txt' }] })
  expect(last!.items).toEqual([{ kind: 'made', target: '/3.txt', undone: true }])
})

test('upkeep forgets what could not be brought back any more', async () => {
  const clock = makeClock()
  const other = await serverOfTest({ clock })
  const ada = await other.account()
  const { use } = await benchOn(other).session(ada)
  await use('write_file', { path: '/a.txt', content: 'a' })
  clock.pass(29 * DAY)
  await other.local.domain.instance.upkeep()
  expect((await benchOn(other).ledger.list(ada.id, {})).changes).toHaveLength(1)
  clock.pass(2 * DAY)
  await other.local.domain.instance.upkeep()
  expect((await benchOn(other).ledger.list(ada.id, {})).changes).toEqual([])
  expect((await ada.manifest()).files).toMatchObject([{ path: '/a.txt' }])
})
