import { mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { versions } from '../../../src/contract/versions.ts'
import { trash } from '../../../src/contract/trash.ts'
import { serverOfTest } from '../../support/server.ts'
import type { Account } from '../../support/account.ts'
import { Unreachable } from '../../../src/client/errors.ts'
import { clientOf, type Meddle, readTree, write, type Client } from './bench.ts'

// Two folders of one account on a real server: what a run of one did is taken back.

interface World {
  one: Client
  two: Client
  account: Account
}

/** Both folders and the account hold these files, and both know it. */
async function agreed(files: Record<string, string>, meddle?: Meddle): Promise<World> {
  const server = await serverOfTest()
  const account = await server.account()
  const one = await clientOf(account, server.url, meddle ? { meddle } : {})
  const two = await clientOf(await account.another(), server.url, { device: 'Desktop' })
  for (const [path, content] of Object.entries(files)) write(one.root, path, content)
  await one.sync()
  await two.sync()
  await one.sync()
  return { one, two, account }
}

const undo = (client: Client) => client.sync({ undo: true })

/** Nobody has anything to do, and all hold this. */
async function expectAll({ one, two }: World, files: Record<string, string | null>): Promise<void> {
  expect(await one.sync()).toMatchObject({ ...NOTHING, in_sync: true })
  expect(readTree(one.root)).toEqual(files)
  await two.sync()
  expect(readTree(two.root)).toEqual(files)
}

const NOTHING = {
  uploaded: { files: 0 },
  downloaded: { files: 0 },
  removed_here: 0,
  removed_there: 0,
  moved_here: 0,
  moved_there: 0,
  folders: 0,
  conflicts: [],
}

const START = {
  'edit.txt': 'first words',
  'gone.txt': 'gone',
  'old/name.txt': 'moves',
  'dir/a': 'a',
  'dir/b': 'b',
  keep: 'keep',
}
const TREE = {
  '/dir': null,
  '/dir/a': 'a',
  '/dir/b': 'b',
  '/edit.txt': 'first words',
  '/gone.txt': 'gone',
  '/keep': 'keep',
  '/old': null,
  '/old/name.txt': 'moves',
}
const AFTER = {
  '/edit.txt': 'second words, and more of them',
  '/keep': 'keep',
  '/new': null,
  '/new/name.txt': 'moves',
}

/** Edits, deletes and moves. */
function change({ root }: Client): void {
  write(root, 'edit.txt', 'second words, and more of them')
  rmSync(join(root, 'gone.txt'))
  rmSync(join(root, 'dir'), { recursive: true })
  renameSync(join(root, 'old'), join(root, 'new'))
}

test('what was edited, deleted and moved here is on all sides as it was, and nobody has anything to do', async () => {
  const world = await agreed(START)
  change(world.one)
  await world.one.sync()
  const summary = await undo(world.one)
  expect(summary.undo).toMatchObject({ left: [], of_undo: false })
  expect(readTree(world.one.root)).toEqual(TREE)
  await expectAll(world, TREE)
  // What gave way lies in the trash.
  expect(trashed(world.one)).toContain('second words, and more of them')
})

test('what came from the server is taken back on the server too', async () => {
  const world = await agreed(START)
  change(world.two)
  await world.two.sync()
  await world.one.sync()
  expect(readTree(world.one.root)).toEqual(AFTER)
  const summary = await undo(world.one)
  expect(summary.undo!.left).toEqual([])
  await expectAll(world, TREE)
})

test('an undo is undone by another, as often as one likes', async () => {
  const world = await agreed(START)
  change(world.one)
  await world.one.sync()
  for (const [round, expected] of [TREE, AFTER, TREE, AFTER].entries()) {
    const summary = await undo(world.one)
    expect(summary.undo).toMatchObject({ left: [], of_undo: round > 0 })
    await expectAll(world, expected)
  }
})

test('of what is new only the copy goes: the original stays, and is left alone until it changes', async () => {
  const world = await agreed({ keep: 'keep' })
  const { one, two } = world
  write(one.root, 'mine/a.txt', 'mine')
  await one.sync()
  expect((await undo(one)).undo).toMatchObject({ done: 2, left: [] })
  for (let run = 0; run < 2; run += 1) {
    const next = await one.sync()
    expect(next).toMatchObject(NOTHING)
    expect(next.skipped).toMatchObject([{ path: '/mine', code: 'taken_back' }])
  }
  await two.sync()
  expect(readTree(two.root)).toEqual({ '/keep': 'keep' })
  expect(readTree(one.root)).toEqual({ '/keep': 'keep', '/mine': null, '/mine/a.txt': 'mine' })

  write(one.root, 'mine/a.txt', 'mine, and changed')
  await expectBoth(world, { '/keep': 'keep', '/mine': null, '/mine/a.txt': 'mine, and changed' })
})

test('what was fetched goes from here, stays on the server, and comes again when that is undone', async () => {
  const world = await agreed({ keep: 'keep' })
  const { one, two } = world
  for (const name of ['x/1', 'x/2', 'x/y/3']) write(two.root, name, name)
  await two.sync()
  await one.sync()
  expect((await undo(one)).undo).toMatchObject({ done: 5, left: [] })
  expect(readTree(one.root)).toEqual({ '/keep': 'keep' })
  expect(await one.sync()).toMatchObject(NOTHING)
  expect(await two.sync()).toMatchObject({ ...NOTHING, in_sync: true })
  expect((await undo(one)).undo).toMatchObject({ done: 5, left: [], of_undo: true })
  await expectAll(world, readTree(two.root))
})

test('the first run, too, is taken back: each side has what it had', async () => {
  const server = await serverOfTest()
  const account = await server.account()
  await account.put('/theirs/1', 'theirs')
  const one = await clientOf(account, server.url)
  write(one.root, 'mine/1', 'mine')
  await one.sync()
  expect(readTree(one.root)).toHaveProperty('/theirs/1')
  expect((await undo(one)).undo!.left).toEqual([])
  expect(readTree(one.root)).toEqual({ '/mine': null, '/mine/1': 'mine' })
  const two = await clientOf(await account.another(), server.url)
  await two.sync()
  expect(readTree(two.root)).toEqual({ '/theirs': null, '/theirs/1': 'theirs' })
  expect(await one.sync()).toMatchObject(NOTHING)
})

test('what changed since, on either side, is left alone and named', async () => {
  const world = await agreed({ a: 'a1', b: 'b1', c: 'c1', d: 'd1' })
  const { one, two } = world
  for (const name of ['a', 'b', 'c']) write(one.root, name, `${name}2, longer`)
  rmSync(join(one.root, 'd'))
  await one.sync()
  write(one.root, 'a', 'a3, edited since')
  await two.sync()
  write(two.root, 'b', 'b3, edited elsewhere')
  write(two.root, 'd', 'd2, made elsewhere')
  await two.sync()
  const { undo: came } = await undo(one)
  expect(came).toMatchObject({ done: 1 })
  expect(came!.left.map(({ path, why }) => [path, why]).sort()).toEqual([
    ['/a', 'changed_here'],
    ['/b', 'changed_there'],
    ['/d', 'changed_there'],
  ])
  expect(readTree(one.root)).toEqual({ '/a': 'a3, edited since', '/b': 'b2, longer', '/c': 'c1' })
  await expectBoth(world, {
    '/a': 'a3, edited since',
    '/b': 'b3, edited elsewhere',
    '/c': 'c1',
    '/d': 'd2, made elsewhere',
  })
})

test('a conflict is left as it is: both versions are there', async () => {
  const { one, two } = await agreed({ a: 'a1' })
  write(two.root, 'a', 'a2 of two')
  await two.sync()
  write(one.root, 'a', 'a2 of one, longer')
  const { conflicts } = await one.sync()
  const before = readTree(one.root)
  const { undo: came } = await undo(one)
  expect(came!.left.map(({ why }) => why)).toContain('conflict')
  expect(readTree(one.root)['/a']).toBe('a2 of two')
  expect(readTree(one.root)).toEqual(before)
  expect(conflicts).toHaveLength(1)
})

test('where the server keeps nothing any more, the trash of this folder does', async () => {
  const world = await agreed({ a: 'a', 'b/1': 'b', keep: 'keep' })
  const { one, two, account } = world
  rmSync(join(two.root, 'a'))
  rmSync(join(two.root, 'b'), { recursive: true })
  await two.sync()
  await one.sync()
  await account.ask(trash.actions.empty, {})
  expect((await undo(one)).undo!.left).toEqual([])
  await expectAll(world, { '/a': 'a', '/b': null, '/b/1': 'b', '/keep': 'keep' })
})

test('what is kept nowhere is said to be gone, and the rest is taken back all the same', async () => {
  const { one, account } = await agreed({ a: 'a', b: 'b', edit: 'one' })
  for (const name of ['a', 'b']) rmSync(join(one.root, name))
  write(one.root, 'edit', 'two, longer')
  await one.sync()
  const { items } = await account.ask(trash.actions.list, {})
  await account.ask(trash.actions.delete, { id: items.find(({ path }) => path === '/a')!.id })
  const { undo: came } = await undo(one)
  expect(came).toMatchObject({ done: 2, left: [{ path: '/a', why: 'gone' }] })
  expect(readTree(one.root)).toEqual({ '/b': 'b', '/edit': 'one' })
  expect(await one.sync()).toMatchObject({ ...NOTHING, in_sync: true })
})

test('a dry run says all of it, and changes nothing at all', async () => {
  const { one, account } = await agreed(START)
  change(one)
  await one.sync()
  const before = { tree: readTree(one.root), state: readFileSync(join(one.root, '.svc/state.db')) }
  const { cursor } = await account.delta(0)
  one.events.length = 0
  const { undo: planned } = await one.sync({ undo: true, dryRun: true })
  expect(planned!.left).toEqual([])
  const told = one.events.flatMap((event) => (event.event === 'undo' ? [`${event.do} ${event.path} ${event.did}`] : []))
  expect(told).toHaveLength(planned!.done)
  expect(told).toEqual(
    expect.arrayContaining([
      'restore /edit.txt upload',
      'revive /gone.txt remove-remote',
      'revive /dir remove-remote',
      'move-back /new move-remote',
    ]),
  )
  expect(readTree(one.root)).toEqual(before.tree)
  expect(readFileSync(join(one.root, '.svc/state.db'))).toEqual(before.state)
  expect((await account.delta(0)).cursor).toBe(cursor)
})

test('only the last run that did something is taken back, and what is pending stays so', async () => {
  const world = await agreed({ a: 'a1', b: 'b1' })
  const { one } = world
  write(one.root, 'a', 'a2, longer')
  await one.sync()
  write(one.root, 'b', 'b2, longer')
  await one.sync()
  await one.sync()
  write(one.root, 'pending', 'not sent yet')
  expect((await undo(one)).undo).toMatchObject({ done: 1, left: [] })
  expect(readTree(one.root)).toEqual({ '/a': 'a2, longer', '/b': 'b1', '/pending': 'not sent yet' })
  expect(await one.sync()).toMatchObject({ uploaded: { files: 1 } })
})

test('with nothing to take back it says so', async () => {
  const server = await serverOfTest()
  const account = await server.account()
  const one = await clientOf(account, server.url)
  expect((await undo(one)).undo).toEqual({ run_at: null, of_undo: false, done: 0, left: [] })
})

test('what is restored keeps its history on the server', async () => {
  const { one, account } = await agreed({ a: 'one' })
  write(one.root, 'a', 'two, longer')
  await one.sync()
  await undo(one)
  const { versions: found } = await account.ask(versions.actions.list, { path: '/a' })
  expect(found.map(({ size }) => size)).toEqual([3, 11, 3])
})

test('broken off anywhere, it is brought to its end by the next run of either kind', async () => {
  let requests = 0
  let breakAt = 0
  const meddle = (moment: 'before' | 'after'): void => {
    if (moment === 'before') requests += 1
    if (requests === Math.abs(breakAt) && (moment === 'before') === breakAt > 0)
      throw new Unreachable('The line is dead.')
  }
  const world = await agreed(START, meddle)
  const { one } = world
  change(one)
  write(one.root, 'fresh/1', 'only the copy goes')
  await one.sync()
  const fresh = { '/fresh': null, '/fresh/1': 'only the copy goes' }
  const start = { ...AFTER, ...fresh }
  const goal = { ...TREE, ...fresh }
  requests = 0
  await undo(one)
  expect(readTree(one.root)).toEqual(goal)
  const all = requests
  expect(all).toBeGreaterThan(5)
  let isUndone = true
  for (let at = 2; at <= all; at += 1) {
    for (breakAt of [at, -at]) {
      requests = 0
      const broken = await undo(one).then(() => false, String)
      breakAt = 0
      isUndone = !isUndone
      // The way back may take fewer requests. Otherwise in turn the command again, or the run that happens to come first.
      if (broken !== false) {
        expect(broken).toContain('The line is dead.')
        await (at % 2 === 0 ? undo(one) : one.sync())
      }
      expect(readTree(one.root), `broken off at ${at}`).toEqual(isUndone ? goal : start)
      expect(await one.sync()).toMatchObject(NOTHING)
    }
  }
  await world.two.sync()
  expect(readTree(world.two.root)).toEqual(isUndone ? TREE : start)
})

test('with the server away nothing changes at all', async () => {
  let isAway = false
  const { one } = await agreed(START, () => {
    if (isAway) throw new Unreachable('Nobody answers.')
  })
  change(one)
  await one.sync()
  const before = readTree(one.root)
  isAway = true
  await expect(undo(one)).rejects.toThrow('Nobody answers.')
  isAway = false
  expect(readTree(one.root)).toEqual(before)
  expect(await one.sync()).toMatchObject({ ...NOTHING, in_sync: true })
})

async function expectBoth(world: World, files: Record<string, string | null>): Promise<void> {
  await world.one.sync()
  await world.two.sync()
  expect(readTree(world.one.root)).toEqual(files)
  expect(readTree(world.two.root)).toEqual(files)
}

/** The contents of what lies in the trash of a folder. */
function trashed({ root }: Client): (string | null)[] {
  const place = join(root, '.svc/trash')
  mkdirSync(place, { recursive: true })
  return Object.values(readTree(place))
}
