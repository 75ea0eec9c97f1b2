import { describe, expect, test } from 'vitest'
import { filesystem } from '../../src/contract/filesystem.ts'
import { trash } from '../../src/contract/trash.ts'
import { makeTreeJobs } from '../../src/domain/files/tree-jobs.ts'
import { makeHeavy } from '../../src/domain/heavy.ts'
import { beginEntry } from '../../src/storage/files/tree-slices.ts'
import type { Account } from '../support/account.ts'
import { makeRoom } from '../support/rooms.ts'
import { serverOfFile } from '../support/server.ts'

const fs = filesystem.actions

const server = await serverOfFile()
const { database } = server

const outcome = async (reply: ReturnType<Account['call']>) => {
  const { status, json } = await reply
  return [status, json['code'] ?? 'ok']
}
const BUSY = [503, 'busy']
const DONE = [200, 'ok']
const TAKEN = [409, 'exists']

/** How many nodes of a tree are live, and how many there are. */
async function nodesOf(top: number) {
  const { q } = database.read
  const all = [top]
  for (const parent of all) {
    const children = await q.selectFrom('nodes').select('id').where('parent_id', '=', parent).execute()
    all.push(...children.map(({ id }) => id))
  }
  const live = await q.selectFrom('nodes').select('id').where('id', 'in', all).where('trash_id', 'is', null).execute()
  return { live: live.length, all: all.length }
}

const nodeCalled = async (name: string) => {
  const rows = await database.read.q.selectFrom('nodes').select(['id', 'trash_id']).where('name', '=', name).execute()
  return rows.at(-1)!
}

/** Leaves the restoration of a tree at the moment at which its top and one folder are back, and nothing else is. */
async function stopRestoring(top: string, folder: string): Promise<void> {
  const { trash_id: entry } = await nodeCalled(top)
  await database.write('instance', async (tx) => {
    await tx.q.updateTable('trash').set({ state: 'reviving' }).where('id', '=', entry).execute()
    await tx.q
      .updateTable('nodes')
      .set({ trash_id: null })
      .where('trash_id', '=', entry)
      .where('name', 'in', [top, folder])
      .execute()
  })
}

/** Folders `top/0` to `top/9`, each with folders in it: more than come back in one transaction. */
async function makeFolders(account: Account, top: string): Promise<void> {
  for (let outer = 0; outer < 10; outer += 1)
    for (let inner = 0; inner < 6; inner += 1)
      await account.ask(fs.mkdir, { path: `${top}/${outer}/${outer}-${inner}` })
}

describe('while a large tree is being restored', () => {
  let count = 0
  /** An account whose tree is, and how many nodes it has. */
  async function restoring() {
    const ada = await server.account()
    const name = `top-${++count}`
    await makeFolders(ada, `/${name}`)
    const { id } = await nodeCalled(name)
    const { all } = await nodesOf(id)
    await ada.ask(fs.trash, { path: `/${name}` })
    await stopRestoring(name, '7')
    return { ada, top: `/${name}`, id, all }
  }

  test.each([
    ['a folder in it is deleted', fs.trash, { path: '/7' }, DONE],
    ['a folder in it is erased', fs.delete, { path: '/7' }, DONE],
    ['a folder in it is moved away', fs.move, { from: '/7', to: '-elsewhere' }, DONE],
    ['a folder in it is copied', fs.copy, { from: '/7', to: '-copy' }, DONE],
    ['a folder is made where one comes back', fs.mkdir, { path: '/7/7-3' }, TAKEN],
    ['something is made below what comes back', fs.mkdir, { path: '/5/new' }, DONE],
    ['a file is written where a folder comes back', fs.write, { path: '/7/7-3', content: '' }, TAKEN],
  ] as const)('%s only afterwards', async (_, action, params, later) => {
    const { ada, top, id, all } = await restoring()
    const placed = Object.fromEntries(
      Object.entries(params).map(([name, value]) => [name, name === 'content' ? value : top + value]),
    )
    expect(await outcome(ada.call(action, placed))).toEqual(BUSY)
    await server.local.domain.files.resume()
    expect(await nodesOf(id)).toEqual({ live: all, all })
    expect(await outcome(ada.call(action, placed))).toEqual(later)
  })

  test('everything else in it goes on', async () => {
    const { ada, top, id, all } = await restoring()
    await ada.put(`${top}/7/new`, 'new')
    expect(await outcome(ada.call(fs.move, { from: top, to: `${top}-moved` }))).toEqual(DONE)
    await server.local.domain.files.resume()
    expect(await nodesOf(id)).toEqual({ live: all + 1, all: all + 1 })
  })
})

test('no other member of a room deletes a tree that one of them is restoring', async () => {
  const [ada, grace] = [await server.account(), await server.account()]
  await makeRoom(server, 'Garden', ada, grace)
  await makeFolders(ada, '/Teamchat/Garden/plants')
  const { id } = await nodeCalled('plants')
  const { all } = await nodesOf(id)
  await ada.ask(fs.trash, { path: '/Teamchat/Garden/plants' })
  await stopRestoring('plants', '7')
  for (const path of ['/Teamchat/Garden/plants', '/Teamchat/Garden/plants/7'])
    expect(await outcome(grace.call(fs.trash, { path }))).toEqual(BUSY)
  await server.local.domain.files.resume()
  expect(await nodesOf(id)).toEqual({ live: all, all })
  expect(await outcome(grace.call(fs.trash, { path: '/Teamchat/Garden/plants' }))).toEqual(DONE)
})

test('a process that was slow to delete a tree marks nothing that another has deleted and restored meanwhile', async () => {
  const ada = await server.account()
  await makeFolders(ada, '/slow')
  const { id } = await nodeCalled('slow')
  const { all } = await nodesOf(id)
  await database.write('instance', (tx) =>
    beginEntry(tx, id, { user: ada.id, path: '/slow', state: 'marking' }, server.clock.now()),
  )
  let reach: () => void = () => undefined
  const reached = new Promise<void>((resolve) => (reach = resolve))
  let open: () => void = () => undefined
  const gate = new Promise<void>((resolve) => (open = resolve))
  const heavy = makeHeavy()
  const slice: typeof heavy.slice = (work) => {
    reach()
    return gate.then(work)
  }
  const slow = makeTreeJobs({ database, clock: server.clock, heavy: { ...heavy, slice } }).settle(ada.id)
  await reached
  await server.local.domain.files.resume()
  const [entry] = (await ada.ask(trash.actions.list, {})).items
  await ada.ask(trash.actions.restore, { id: entry!.id })
  open()
  await slow
  expect(await nodesOf(id)).toEqual({ live: all, all })
})
