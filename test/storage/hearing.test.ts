import { sql } from 'kysely'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { Busy } from '../../src/base/errors.ts'
import type { Database, Topic } from '../../src/storage/engine/database.ts'
import { openPostgres } from '../../src/storage/engine/postgres.ts'
import { openSqlite } from '../../src/storage/engine/sqlite.ts'
import { cutListening, freshName, listeningAt, programs, startPostgres, type Cluster } from '../support/postgres.ts'
import { folderOfTest } from '../support/server.ts'

let cluster: Cluster
beforeAll(async () => {
  if (programs) cluster = await startPostgres()
})
afterAll(() => cluster?.stop())

/** Opens a new database, as often as a test wants to be another process. */
const engines = {
  SQLite: async () => {
    const file = join(await folderOfTest(), 'svc.db')
    return () => Promise.resolve(openSqlite(file))
  },
  ...(programs && {
    Postgres: async () => {
      const url = await cluster.database(freshName())
      return () => openPostgres(url)
    },
  }),
}

async function opened(open: () => Promise<Database>): Promise<Database> {
  const database = await open()
  onTestFinished(() => database.close())
  return database
}

/** Hears a topic, and waits for what is heard. */
function listenTo(database: Database, topic: Topic) {
  const heard: [id: number, head: number][] = []
  let missed = 0
  const wakers: (() => void)[] = []
  const wake = () => wakers.splice(0).forEach((each) => each())
  database.listen(topic, {
    moved(id, head) {
      heard.push([id, head])
      wake()
    },
    missed() {
      missed += 1
      wake()
    },
  })
  const until = async (isSo: () => boolean) => {
    while (!isSo()) await new Promise<void>((resolve) => wakers.push(resolve))
  }
  return {
    heard,
    missed: () => missed,
    /** Resolves once it listened anew so many times. */
    listens: (times = 1) => until(() => missed >= times),
    hears: (id: number, head: number) => until(() => heard.some((each) => each[0] === id && each[1] === head)),
  }
}

describe.each(Object.entries(engines))('what a unit of work tells on %s', (_, place) => {
  test('is heard in its process once it is committed, by whoever hears the topic', async () => {
    const database = await opened(await place())
    const [feeds, alsoFeeds, rooms] = [
      listenTo(database, 'feed'),
      listenTo(database, 'feed'),
      listenTo(database, 'room'),
    ]
    await database.write('instance', (tx) => {
      tx.notify('feed', 1, 7)
      tx.notify('feed', 2, 3)
      tx.notify('feed', 1, 8)
      expect(feeds.heard).toEqual([])
      return Promise.resolve()
    })
    // The furthest of each.
    await feeds.hears(2, 3)
    expect(feeds.heard.slice(0, 2)).toEqual([
      [1, 8],
      [2, 3],
    ])
    expect(alsoFeeds.heard.slice(0, 2)).toEqual(feeds.heard.slice(0, 2))
    expect(rooms.heard).toEqual([])
  })

  test('is not heard when it is undone, alone, in part or with all it shares a commit with', async () => {
    const database = await opened(await place())
    const feeds = listenTo(database, 'feed')
    const no = () => Promise.reject(new Error('no'))
    const alone = database.write('instance', (tx) => {
      tx.notify('feed', 1, 1)
      return no()
    })
    await expect(alone).rejects.toThrow('no')
    const shared = await Promise.allSettled([
      database.write('instance', (tx) => Promise.resolve(tx.notify('feed', 2, 1))),
      database.write('instance', (tx) => {
        tx.notify('feed', 3, 1)
        return no()
      }),
      database.write('instance', async (tx) => {
        tx.notify('feed', 4, 1)
        await tx
          .attempt(() => {
            tx.notify('feed', 4, 2)
            tx.notify('feed', 5, 1)
            return no()
          })
          .catch(() => undefined)
        tx.notify('feed', 6, 1)
      }),
    ])
    expect(shared.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    await database.write('instance', (tx) => Promise.resolve(tx.notify('feed', 7, 1)))
    await feeds.hears(7, 1)
    expect(new Set(feeds.heard.map(([id, head]) => `${id}:${head}`))).toEqual(new Set(['2:1', '4:1', '6:1', '7:1']))
  })
})

describe.skipIf(programs === undefined)('what processes tell each other over Postgres', () => {
  async function two() {
    const url = await cluster.database(freshName())
    const open = () => openPostgres(url)
    return { url, here: await opened(open), there: await opened(open) }
  }

  const tell = (database: Database, topic: Topic, id: number, head: number) =>
    database.write('instance', (tx) => Promise.resolve(tx.notify(topic, id, head)))

  test('is heard by the others, however much it is, and not when it is undone', async () => {
    const { here, there } = await two()
    const [feeds, rooms] = [listenTo(here, 'feed'), listenTo(here, 'room')]
    await feeds.listens()
    await expect(
      there.write('instance', (tx) => {
        tx.notify('feed', 9, 9)
        return Promise.reject(new Error('no'))
      }),
    ).rejects.toThrow('no')
    const many = Array.from({ length: 1_000 }, (_, index) => Number.MAX_SAFE_INTEGER - index)
    await there.write('instance', (tx) => {
      for (const id of many) tx.notify('feed', id, Number.MAX_SAFE_INTEGER)
      return Promise.resolve()
    })
    await tell(there, 'room', 1, 2)
    await rooms.hears(1, 2)
    expect(feeds.heard).toEqual(many.map((id) => [id, Number.MAX_SAFE_INTEGER]))
    expect(rooms.heard).toEqual([[1, 2]])
  })

  test('is not heard where the connection was lost before the commit', async () => {
    const { url, here, there } = await two()
    const feeds = listenTo(here, 'feed')
    await feeds.listens()
    const unit = there.write('instance', async (tx) => {
      tx.notify('feed', 1, 1)
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx.q)
      await sql`select pg_terminate_backend(${rows[0]!.pid}, 5000)`.execute(here.read.q)
    })
    await expect(unit).rejects.toThrow(Busy)
    await tell(there, 'feed', 2, 2)
    await feeds.hears(2, 2)
    expect(feeds.heard).toEqual([[2, 2]])
    expect(await listeningAt(url)).toBe(1)
  })

  test('may be anything: what makes no sense wakes nobody', async () => {
    const { here, there } = await two()
    const feeds = listenTo(here, 'feed')
    await feeds.listens()
    const payloads = [
      '',
      ',',
      'feed',
      'feed 1',
      'feed x 1',
      'tree 1 1',
      'feed 1 1e400',
      "'; drop table users",
      'x'.repeat(7_000),
    ]
    for (const payload of payloads) await sql`select pg_notify('svc_news', ${payload})`.execute(there.read.q)
    await sql`select pg_notify('other', 'feed 3 3')`.execute(there.read.q)
    await tell(there, 'feed', 2, 2)
    await feeds.hears(2, 2)
    expect(feeds.heard).toEqual([[2, 2]])
  })

  test('is listened to from the first hearer on, until the database is closed', async () => {
    const { url, here, there } = await two()
    await tell(here, 'feed', 1, 1)
    expect(await listeningAt(url)).toBe(0)
    const [feeds, rooms] = [listenTo(here, 'feed'), listenTo(here, 'room')]
    await Promise.all([feeds.listens(), rooms.listens()])
    expect(await listeningAt(url)).toBe(1)
    await here.close()
    listenTo(here, 'feed')
    await expect.poll(() => listeningAt(url)).toBe(0)
    await tell(there, 'feed', 2, 2)
    expect(feeds.heard).toEqual([])
  })

  test('is heard again after the connection was lost, and it is said that something may have been missed', async () => {
    const { url, here, there } = await two()
    const feeds = listenTo(here, 'feed')
    await feeds.listens()
    for (const times of [1, 2]) {
      expect(await cutListening(url)).toBe(1)
      await feeds.listens(times + 1)
      await tell(there, 'feed', times, times)
      await feeds.hears(times, times)
    }
    expect(feeds.missed()).toBe(3)
  })

  test('is heard again after the server was gone for a while', async () => {
    const { here, there } = await two()
    const feeds = listenTo(here, 'feed')
    await feeds.listens()
    await cluster.crash()
    await expect(tell(there, 'feed', 1, 1)).rejects.toThrow(Busy)
    await cluster.start()
    await feeds.listens(2)
    await tell(there, 'feed', 2, 2)
    await feeds.hears(2, 2)
    expect(feeds.heard).toEqual([[2, 2]])
  })

  test('keeps nobody from closing while it begins, or while the server is gone', async () => {
    const { url, here, there } = await two()
    listenTo(there, 'feed')
    await there.close()
    const also = await opened(() => openPostgres(url))
    listenTo(also, 'feed')
    await new Promise((resolve) => setImmediate(resolve))
    await also.close()
    await expect.poll(() => listeningAt(url)).toBe(0)
    const feeds = listenTo(here, 'feed')
    await feeds.listens()
    await cluster.crash()
    await here.close()
    await cluster.start()
  })
})
