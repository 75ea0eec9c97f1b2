import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, expect, onTestFinished, test } from 'vitest'
import { DAY } from '../../../src/base/clock.ts'
import { daysUntilFull, growthOf } from '../../../src/domain/instance/trend.ts'
import { openLocal } from '../../../src/wiring/local-domain.ts'
import { filesystem } from '../../../src/contract/filesystem.ts'
import { channelOf } from '../../support/chat.ts'
import { makeClock } from '../../support/clock.ts'
import { bytesOf } from '../../support/contents.ts'
import { folderOfTest, serverOfTest } from '../../support/server.ts'
import { commitsSeenBy } from '../../support/state.ts'
import { addUser, openForTest } from '../../support/storage.ts'

async function world() {
  const dataDir = await folderOfTest()
  const clock = makeClock()
  const { domain, close } = await openLocal({ dataDir, env: {}, clock })
  onTestFinished(close)
  const database = openForTest(join(dataDir, 'svc.db'))
  const user = await addUser(database, 'ada')
  return {
    domain,
    clock,
    database,
    user,
    usage: domain.instance.usage,
    async put(path: string, size: number, seed = 1, owner = user) {
      const staged = await domain.files.receive(Readable.from([bytesOf(size, seed)]))
      await domain.files.write(owner, path, { staged, claimed: {}, expectation: {} })
    },
    count: (bytes: number, of = user) =>
      database.write('instance', (tx) =>
        tx.q.updateTable('counters').set({ used_bytes: bytes }).where('user_id', '=', of).execute(),
      ),
  }
}

describe('a report', () => {
  test('tells apart own files, files in rooms, trash and versions, and whose they are', async () => {
    const server = await serverOfTest()
    const [ada, bob] = [await server.account({ quota: 1_000 }), await server.account()]
    const room_id = await channelOf(ada, bob)
    expect(room_id).toBeGreaterThan(0)
    await ada.put('/a', bytesOf(100))
    await ada.put('/b', bytesOf(40, 2))
    await ada.put('/b', bytesOf(50, 3))
    await ada.put('/folder/c', bytesOf(7, 4))
    await ada.ask(filesystem.actions.trash, { path: '/folder' })
    const body = new FormData()
    body.append('file', new Blob([bytesOf(300, 5)]), 'shared.bin')
    await ada.ask(filesystem.actions.upload, { path: '/Teamchat/Engines' }, { body })
    const { accounts, total } = await server.local.domain.instance.usage.report()
    const of = (id: number) => accounts.find(({ user_id }) => user_id === id)
    expect(of(ada.id)).toMatchObject({
      used_bytes: 450,
      own_bytes: 150,
      room_bytes: 300,
      files: 3,
      trash_bytes: 7,
      versions_bytes: 40,
      effective_quota: 1_000,
      percent: 45,
      growth: null,
      full_in_days: null,
    })
    expect(of(bob.id)).toMatchObject({ used_bytes: 0, own_bytes: 0, files: 0, percent: null, effective_quota: -1 })
    expect(total).toMatchObject({ used_bytes: 450, files: 3, trash_bytes: 7, versions_bytes: 40, growth: null })
  })

  test('goes on as the last days went, which upkeep noted', async () => {
    const { domain, usage, put, clock, user, database } = await world()
    await domain.accounts.update(user, { quota_bytes: 10_000 })
    for (let day = 0; day < 5; day += 1) {
      await put(`/${day}`, 1_000, day + 1)
      await domain.instance.upkeep()
      clock.pass(DAY)
    }
    const { accounts, total } = await usage.report()
    expect(accounts[0]!.growth).toBeGreaterThan(700)
    expect(accounts[0]!.growth).toBeLessThan(1_100)
    expect(accounts[0]!.full_in_days).toBe(Math.ceil(5_000 / accounts[0]!.growth!))
    expect(total.growth).toBe(accounts[0]!.growth)
    const noted = await database.read.q.selectFrom('usage_history').selectAll().orderBy('day').execute()
    expect(noted.map(({ used_bytes }) => used_bytes)).toEqual([1_000, 2_000, 3_000, 4_000, 5_000])
  })

  test('knows no future of an account without history, and of one that shrinks', async () => {
    const { domain, usage, put, clock } = await world()
    for (let day = 0; day < 5; day += 1) {
      await put('/a', 5_000 - 1_000 * day)
      await domain.instance.upkeep()
      clock.pass(DAY)
    }
    const { accounts } = await usage.report()
    expect(accounts[0]!.growth).toBeLessThan(0)
    expect(accounts[0]!.full_in_days).toBeNull()
  })

  test('a day has one note, of the first moment of the next day, and notes are forgotten after 400 days', async () => {
    const { domain, put, clock, database } = await world()
    await put('/a', 10)
    await domain.instance.upkeep()
    await put('/b', 10)
    await domain.instance.upkeep()
    const noted = () => database.read.q.selectFrom('usage_history').select(['used_bytes', 'day']).execute()
    expect(await noted()).toEqual([{ used_bytes: 10, day: Math.floor(clock.now() / DAY) - 1 }])
    clock.pass(399 * DAY)
    await domain.instance.upkeep()
    clock.pass(DAY)
    await domain.instance.upkeep()
    expect(await noted()).toHaveLength(2)
    clock.pass(DAY)
    await domain.instance.upkeep()
    expect(await noted()).toHaveLength(2)
  })
})

describe('counting anew', () => {
  test('puts right what is wrong, leaves the rest alone, and says which it was', async () => {
    const { usage, put, count, database, user, domain } = await world()
    const bob = await addUser(database, 'bob')
    await put('/a', 100)
    await put('/b', 50, 2, bob)
    await count(7)
    const drift = { user_id: user, username: 'ada', kind: 'files', counted: 7, actual: 100 }
    const before = await commitsSeenBy(database)
    expect(await usage.recount({ dryRun: true })).toEqual([drift])
    expect(await commitsSeenBy(database)).toBe(before)
    expect(await usage.recount()).toEqual([drift])
    const counters = await database.read.q.selectFrom('counters').select(['user_id', 'used_bytes', 'seq']).execute()
    expect(counters).toEqual([
      { user_id: user, used_bytes: 100, seq: 1 },
      { user_id: bob, used_bytes: 50, seq: 1 },
    ])
    expect(await domain.instance.audit.list({ kinds: ['quota.recounted'], limit: 10 })).toMatchObject([
      { target: 'ada', detail: '{"of":"files","counted":7,"actual":100}' },
    ])
    const settled = await commitsSeenBy(database)
    expect(await usage.recount()).toEqual([])
    expect(await commitsSeenBy(database)).toBe(settled)
  })

  test('loses no upload that comes in between', async () => {
    const { usage, put, count, domain, user } = await world()
    await put('/a', 100)
    await count(7)
    await Promise.all([usage.recount(), ...[1, 2, 3, 4, 5].map((name) => put(`/${name}`, 10, name))])
    await usage.recount()
    expect((await domain.files.desktop.quota(user)).used).toBe(150)
    expect(await usage.recount({ dryRun: true })).toEqual([])
  })
})

describe('a trend', () => {
  const line = (...values: number[]) => values.map((value, day) => ({ day, value }))
  test.each([
    ['a straight line', line(10, 20, 30, 40), 10],
    ['a level', line(5, 5, 5, 5), 0],
    ['a decline', line(40, 30, 20, 10), -10],
  ])('is the slope of %s', (_, points, slope) => expect(growthOf(points)).toBeCloseTo(slope))

  test.each([
    ['nothing', []],
    ['two days', line(1, 2)],
    ['three notes of one day', [0, 0.5, 0.9].map((day) => ({ day, value: day }))],
  ])('is not seen in %s', (_, points) => expect(growthOf(points)).toBeUndefined())

  test.each([
    [100, 10, 10],
    [101, 10, 11],
    [0, 10, 0],
    [-5, undefined, 0],
    [100, 0, undefined],
    [100, -1, undefined],
    [100, undefined, undefined],
    [1e12, 1, undefined],
  ])('%s bytes at %s a day last %s days', (room, growth, days) => expect(daysUntilFull(room, growth)).toBe(days))
})
