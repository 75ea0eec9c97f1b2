import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { sql, type Kysely } from 'kysely'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { Busy, DatabaseMoved, DiskFull } from '../../src/base/errors.ts'
import { openEngine } from '../../src/host/sqlite-engine.ts'
import type { Database, Reader, Writer } from '../../src/storage/engine/database.ts'
import { prepared } from '../../src/storage/engine/database.ts'
import { openSqlite } from '../../src/storage/engine/sqlite.ts'
import { folderOfTest } from '../support/server.ts'
import { smallDisk } from '../support/small-disk.ts'
import { openForTest } from '../support/storage.ts'

afterEach(() => void vi.useRealTimers())

interface Item {
  id: number
  name: string
}

const q = ({ q: any }: Reader) =>
  any as unknown as Kysely<{ items: Item; parts: { item_id: number; data: Uint8Array | null } }>

const add = (tx: Writer, name: string) =>
  q(tx)
    .insertInto('items')
    .values({ name } as Item)
    .execute()
const names = async (on: Reader) =>
  (await q(on).selectFrom('items').select('name').orderBy('id').execute()).map(({ name }) => name)

async function prepare(database: Database): Promise<void> {
  const { dialect } = database
  await database.write('instance', async (tx) => {
    await sql`create table items (id ${dialect.id}, name ${dialect.text} not null unique) ${dialect.strict}`.execute(
      tx.q,
    )
    await sql`create table parts (item_id ${dialect.integer} not null references items (id), data ${dialect.bytes}) ${dialect.strict}`.execute(
      tx.q,
    )
  })
}

async function world() {
  const file = join(await folderOfTest(), 'svc.db')
  const database = openForTest(file)
  await prepare(database)
  return { file, database, read: database.read }
}

test('runs with the settings that keep an acknowledged write', async () => {
  const { database } = await world()
  const { version, ...facts } = await database.describe()
  expect(facts).toEqual({ engine: 'SQLite', journal_mode: 'wal', synchronous: '2', foreign_keys: '1' })
  const numbers = version!.split('.').map(Number)
  expect(numbers[0]! * 1e6 + numbers[1]! * 1e3 + numbers[2]!).toBeGreaterThanOrEqual(3_051_003)
})

describe('a file that is removed while it is open', () => {
  test('takes no transaction any more', async () => {
    const { file, database } = await world()
    await database.write('instance', (tx) => add(tx, 'before'))
    await rm(file)
    await expect(database.write('instance', (tx) => add(tx, 'after'))).rejects.toThrow(DatabaseMoved)
  })

  test('acknowledges nothing that was being written', async () => {
    const { file, database } = await world()
    const writing = database.write('instance', async (tx) => {
      await add(tx, 'meanwhile')
      await rm(file)
    })
    await expect(writing).rejects.toThrow(DatabaseMoved)
  })
})

describe('writing', () => {
  test('gives what the unit returns, and everybody sees it', async () => {
    const { file, database, read } = await world()
    expect(await database.write('instance', async (tx) => (await add(tx, 'a'), 'done'))).toBe('done')
    expect([await names(read), await names(openForTest(file).read)]).toEqual([['a'], ['a']])
  })

  test('is undone whole when the unit throws, and the error is the caller’s', async () => {
    const { database, read } = await world()
    const failing = database.write('instance', async (tx) => {
      await add(tx, 'a')
      await add(tx, 'b')
      throw new Error('Changed my mind.')
    })
    await expect(failing).rejects.toThrow('Changed my mind.')
    expect(await names(read)).toEqual([])
  })

  test('is undone whole when a statement fails: constraints hold', async () => {
    const { database, read } = await world()
    await database.write('instance', (tx) => add(tx, 'a'))
    await expect(database.write('instance', async (tx) => (await add(tx, 'b'), await add(tx, 'a')))).rejects.toThrow(
      'UNIQUE',
    )
    await expect(
      database.write('instance', (tx) => q(tx).insertInto('parts').values({ item_id: 99, data: null }).execute()),
    ).rejects.toThrow('FOREIGN KEY')
    await expect(
      database.write('instance', (tx) => sql`insert into items (name) values (5.5), (x'00')`.execute(tx.q)),
    ).rejects.toThrow('TEXT')
    expect(await names(read)).toEqual(['a'])
  })

  test('of many units at once keeps each that succeeded and nothing of the others', async () => {
    const { database, read } = await world()
    const units = Array.from({ length: 200 }, (_, index) =>
      database.write('instance', async (tx) => {
        await add(tx, `unit ${index}`)
        if (index % 3 === 1) throw new Error(`unit ${index} failed`)
        if (index % 3 === 2) await add(tx, 'unit 0')
        return index
      }),
    )
    const outcomes = await Promise.allSettled(units)
    const kept = Array.from({ length: 200 }, (_, index) => index).filter((index) => index % 3 === 0)
    expect(outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))).toEqual(kept)
    expect(await names(read)).toEqual(kept.map((index) => `unit ${index}`))
    const [, second] = outcomes
    expect(second).toMatchObject({ reason: { message: 'unit 1 failed' } })
  })

  test('happens in the order of asking, one unit after the other', async () => {
    const { database } = await world()
    const running: string[] = []
    const unit = (name: string) =>
      database.write('instance', async () => {
        running.push(`${name} begins`)
        await Promise.resolve()
        await Promise.resolve()
        running.push(`${name} ends`)
      })
    await Promise.all([unit('a'), unit('b'), unit('c')])
    expect(running).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends'])
  })

  test('is seen by nobody before it is committed', async () => {
    const { file, database, read } = await world()
    const other = openForTest(file).read
    const seen: string[][] = []
    await database.write('instance', async (tx) => {
      await add(tx, 'a')
      seen.push(await names(tx), await names(read), await names(other))
    })
    expect(seen).toEqual([['a'], [], []])
  })

  test('can undo a part alone, also within a part', async () => {
    const { database, read } = await world()
    await database.write('instance', async (tx) => {
      await add(tx, 'a')
      const failing = tx.attempt(async () => {
        await add(tx, 'b')
        await tx.attempt(() => add(tx, 'c'))
        await expect(tx.attempt(() => add(tx, 'a'))).rejects.toThrow('UNIQUE')
        throw new Error('all of this')
      })
      await expect(failing).rejects.toThrow('all of this')
      expect(await tx.attempt(async () => (await add(tx, 'd'), 4))).toBe(4)
    })
    expect(await names(read)).toEqual(['a', 'd'])
  })

  test('goes on after a unit that failed', async () => {
    const { database, read } = await world()
    await Promise.allSettled([database.write('instance', () => Promise.reject(new Error('x')))])
    await database.write('instance', (tx) => add(tx, 'a'))
    expect(await names(read)).toEqual(['a'])
  })

  test('is finished before the database closes', async () => {
    const file = join(await folderOfTest(), 'svc.db')
    const database = openSqlite(file)
    await prepare(database)
    const writing = Promise.all(['a', 'b'].map((name) => database.write('instance', (tx) => add(tx, name))))
    await database.close()
    await writing
    expect(await names(openForTest(file).read)).toEqual(['a', 'b'])
  })

  test('by two processes takes turns, and loses nothing', async () => {
    const { file, database, read } = await world()
    const other = openForTest(file)
    const writes = Array.from({ length: 60 }, (_, index) =>
      (index % 2 ? other : database).write('instance', (tx) => add(tx, `n${index}`)),
    )
    await Promise.all(writes)
    expect((await names(read)).sort()).toEqual(Array.from({ length: 60 }, (_, index) => `n${index}`).sort())
  })
})

describe('while another process holds the lock', () => {
  async function locked() {
    const made = await world()
    const other = openEngine(made.file, 0)
    onTestFinished(() => void other.close())
    other.exec('begin immediate')
    return { ...made, release: () => other.exec('rollback') }
  }

  test('reading goes on, and writing waits for it', async () => {
    const { database, read, release } = await locked()
    const writing = database.write('instance', (tx) => add(tx, 'a'))
    expect(await names(read)).toEqual([])
    setImmediate(release)
    await writing
    expect(await names(read)).toEqual(['a'])
  })

  test('writing gives up after a while, changes nothing, and works again later', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { database, read, release } = await locked()
    const writes = ['a', 'b'].map((name) => database.write('instance', (tx) => add(tx, name)))
    const hurrying = setInterval(() => vi.setSystemTime(Date.now() + 60_000), 1)
    const outcomes = await Promise.allSettled(writes)
    clearInterval(hurrying)
    expect(outcomes.map((outcome) => outcome.status === 'rejected' && outcome.reason instanceof Busy)).toEqual([
      true,
      true,
    ])
    release()
    await database.write('instance', (tx) => add(tx, 'c'))
    expect(await names(read)).toEqual(['c'])
  })
})

test('a full disk is said to be full, undoes what did not fit, and does not stay full', async (context) => {
  const made = await smallDisk(2 << 20)
  if ('reason' in made) return context.skip(made.reason)
  const database = openForTest(join(made.folder, 'svc.db'))
  await prepare(database)
  await database.write('instance', (tx) => add(tx, 'kept'))
  const fill = (tx: Writer, megabytes: number) =>
    q(tx)
      .insertInto('parts')
      .values({ item_id: 1, data: Buffer.alloc(megabytes << 20, 7) })
      .execute()
  const outcomes = await Promise.allSettled([
    database.write('instance', (tx) => add(tx, 'beside')),
    database.write('instance', async (tx) => (await add(tx, 'too large'), await fill(tx, 8))),
  ])
  expect(outcomes[1]).toMatchObject({ status: 'rejected' })
  expect((outcomes[1] as PromiseRejectedResult).reason).toBeInstanceOf(DiskFull)
  const beside = outcomes[0]!.status === 'fulfilled' ? ['beside'] : []
  expect(await names(database.read)).toEqual(['kept', ...beside])
  await database.write('instance', (tx) => add(tx, 'later'))
  expect(await names(database.read)).toEqual(['kept', ...beside, 'later'])
})

describe('a snapshot', () => {
  test('is of one moment, whatever is written meanwhile', async () => {
    const { file, database } = await world()
    const other = openForTest(file)
    await database.write('instance', (tx) => add(tx, 'a'))
    const seen = await database.snapshot(async (at) => {
      const first = await names(at)
      await database.write('instance', (tx) => add(tx, 'b'))
      await other.write('instance', (tx) => add(tx, 'c'))
      return [first, await names(at), await names(database.read)]
    })
    expect(seen).toEqual([['a'], ['a'], ['a', 'b', 'c']])
    expect(await database.snapshot(names)).toEqual(['a', 'b', 'c'])
  })

  test('is one of many at once, each of its own moment', async () => {
    const { database } = await world()
    const seen = await Promise.all(
      Array.from({ length: 9 }, (_, index) =>
        database.snapshot(async (at) => {
          const before = await names(at)
          await database.write('instance', (tx) => add(tx, `n${index}`))
          return [before.length, (await names(at)).length]
        }),
      ),
    )
    for (const [before, after] of seen) expect(after).toBe(before)
    expect(await names(database.read)).toHaveLength(9)
  })

  test('that fails is over, and the next is fresh', async () => {
    const { database } = await world()
    await expect(database.snapshot(() => Promise.reject(new Error('x')))).rejects.toThrow('x')
    await database.write('instance', (tx) => add(tx, 'a'))
    expect(await database.snapshot(names)).toEqual(['a'])
  })
})

describe('a prepared query', () => {
  const byName = prepared<{ name: string; least: number }, Item>(({ q: any, p }) =>
    (any as unknown as Kysely<{ items: Item }>)
      .selectFrom('items')
      .selectAll()
      .where('name', '=', p.name)
      .where('id', '>', p.least),
  )

  test('runs with its values wherever it is asked, as often as one likes', async () => {
    const { database, read } = await world()
    const other = await world()
    await database.write('instance', (tx) => add(tx, 'a'))
    await other.database.write('instance', (tx) => add(tx, 'b'))
    expect(await byName(read, { name: 'a', least: 0 })).toEqual([{ id: 1, name: 'a' }])
    expect(await byName(read, { name: 'b', least: 0 })).toEqual([])
    expect(await byName(read, { name: 'a', least: 1 })).toEqual([])
    expect(await byName(other.read, { name: 'b', least: 0 })).toEqual([{ id: 1, name: 'b' }])
    expect(await database.snapshot((at) => byName(at, { name: 'a', least: 0 }))).toHaveLength(1)
  })

  test('gives its limit as an expression, for which SQLite does not prepare the statement again', async () => {
    const { database, read } = await world()
    await database.write('instance', async (tx) => {
      for (const name of ['a', 'b', 'c']) await add(tx, name)
    })
    const few = prepared<{ limit: number }, Item>(({ q: any, p }) =>
      (any as unknown as Kysely<{ items: Item }>).selectFrom('items').selectAll().orderBy('id').limit(p.limit),
    )
    for (const limit of [2, 0, 1, 5]) expect(await few(read, { limit })).toHaveLength(Math.min(limit, 3))
    const { sql: text } = q(read).selectFrom('items').selectAll().limit(1).offset(2).compile()
    expect(text).toBe('select * from "items" limit 0 + ? offset ?')
    expect(await q(read).selectFrom('items').select('name').limit(1).offset(2).execute()).toEqual([{ name: 'c' }])
  })

  test('takes values for values, never for SQL', async () => {
    const { database, read } = await world()
    await database.write('instance', (tx) => add(tx, "x' or '1'='1"))
    expect(await byName(read, { name: "' or '1'='1", least: 0 })).toEqual([])
    expect(await byName(read, { name: "x' or '1'='1", least: 0 })).toHaveLength(1)
  })
})
