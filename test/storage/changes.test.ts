import { describe, expect, test } from 'vitest'
import { advance, compact, headOf, headsOf, newestOf, recordAll } from '../../src/storage/feed/changes.ts'
import type { Database } from '../../src/storage/engine/database.ts'
import { addUser, databaseOfTest } from '../support/storage.ts'

/** Writes one change as the domain does: a position, and the change at it. */
const change = (database: Database, user: number, row: number, deleted: boolean, now: number, table = 'svc_notes') =>
  database.write('instance', async (tx) => {
    const { seq } = await advance(tx, user, 1)
    await recordAll(tx, user, seq, now, [{ table, row, deleted }])
    return seq
  })

const log = async (database: Database, user: number) =>
  (
    await database.read.q
      .selectFrom('changes')
      .select(['row_id', 'seq', 'born', 'deleted'])
      .where('user_id', '=', user)
      .orderBy('seq')
      .execute()
  ).map(({ row_id, seq, born, deleted }) => [row_id, seq, born, deleted])

describe('the change feed', () => {
  test('remembers of each row where it changed last, and where it was born', async () => {
    const { database, user } = await databaseOfTest()
    await change(database, user, 7, false, 1)
    await change(database, user, 8, false, 2)
    await change(database, user, 7, false, 3)
    await change(database, user, 8, true, 4)
    expect(await log(database, user)).toEqual([
      [7, 3, 1, 0],
      [8, 4, 2, 1],
    ])
  })

  test('lets a row that comes back be born again, for whoever has seen its end', async () => {
    const { database, user } = await databaseOfTest()
    await change(database, user, 7, false, 1)
    await change(database, user, 7, true, 2)
    await change(database, user, 7, true, 3)
    expect(await log(database, user)).toEqual([[7, 3, 1, 1]])
    await change(database, user, 7, false, 4)
    expect(await log(database, user)).toEqual([[7, 4, 4, 0]])
    await change(database, user, 7, false, 5)
    expect(await log(database, user)).toEqual([[7, 5, 4, 0]])
  })

  test('counts for each account by itself, without gaps, whatever is undone', async () => {
    const { database, user } = await databaseOfTest()
    const other = await addUser(database, 'bob')
    await change(database, user, 1, false, 1)
    await change(database, other, 1, false, 1)
    const failing = database.write('instance', async (tx) => {
      await advance(tx, user, 5, 100)
      throw new Error('Changed my mind.')
    })
    await expect(failing).rejects.toThrow('Changed my mind.')
    expect(await Promise.all([2, 3, 4].map((row) => change(database, user, row, false, 2)))).toEqual([2, 3, 4])
    expect(await headOf(database.read, user)).toEqual({ seq: 4, oldest: 0, used_bytes: 0 })
    expect(await headsOf(database.read, [user, other])).toEqual([
      { id: user, head: 4 },
      { id: other, head: 1 },
    ])
  })

  test('moves the usage with it', async () => {
    const { database, user } = await databaseOfTest()
    expect(await database.write('instance', (tx) => advance(tx, user, 1, 500))).toMatchObject({
      seq: 1,
      used_bytes: 500,
    })
    expect(await database.write('instance', (tx) => advance(tx, user, 2, -200))).toMatchObject({
      seq: 3,
      used_bytes: 300,
    })
  })

  test('knows the newest change of a table', async () => {
    const { database, user } = await databaseOfTest()
    expect(await newestOf(database.read, user, 'svc_files')).toBe(0)
    await change(database, user, 1, false, 1, 'svc_files')
    await change(database, user, 1, false, 2)
    expect([
      await newestOf(database.read, user, 'svc_files'),
      await newestOf(database.read, user, 'svc_notes'),
    ]).toEqual([1, 2])
  })

  test('of a removed account is asked for in vain', async () => {
    const { database } = await databaseOfTest()
    expect(await headOf(database.read, 999)).toBeUndefined()
    await expect(database.write('instance', (tx) => advance(tx, 999, 1))).rejects.toThrow('no counter row')
  })
})

describe('forgetting deletions', () => {
  test('raises the oldest cursor that can still be served, for the accounts concerned', async () => {
    const { database, user } = await databaseOfTest()
    const other = await addUser(database, 'bob')
    for (const row of [1, 2, 3]) await change(database, user, row, false, 10)
    await change(database, user, 1, true, 20)
    await change(database, user, 2, true, 30)
    await change(database, other, 1, false, 10)
    expect(await database.write('instance', (tx) => compact(tx, 20))).toBe(0)
    expect(await database.write('instance', (tx) => compact(tx, 21))).toBe(1)
    expect([await headOf(database.read, user), await headOf(database.read, other)]).toMatchObject([
      { seq: 5, oldest: 4 },
      { seq: 1, oldest: 0 },
    ])
    expect(await log(database, user)).toEqual([
      [3, 3, 3, 0],
      [2, 5, 2, 1],
    ])
  })

  test('never lowers it, also when the clock once went backwards', async () => {
    const { database, user } = await databaseOfTest()
    for (const row of [1, 2]) await change(database, user, row, false, 10)
    await change(database, user, 1, true, 100)
    await change(database, user, 2, true, 50)
    await database.write('instance', (tx) => compact(tx, 60))
    expect(await headOf(database.read, user)).toMatchObject({ oldest: 4 })
    expect(await database.write('instance', (tx) => compact(tx, 200))).toBe(1)
    expect(await headOf(database.read, user)).toMatchObject({ oldest: 4 })
  })
})
