import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { shapes } from '../../src/domain/sync/sync.ts'
import { insertAccount } from '../../src/storage/accounts/accounts.ts'
import { insertMembers, insertRoom } from '../../src/storage/chat/rooms.ts'
import type { Database, WriteScope } from '../../src/storage/engine/database.ts'
import { migrate } from '../../src/storage/engine/migrations/migrate.ts'
import { openPostgres } from '../../src/storage/engine/postgres.ts'
import { ensureTables } from '../../src/storage/engine/synchronised-tables.ts'
import { freshName, programs, startPostgres, type Cluster } from '../support/postgres.ts'

type Held = [Database, WriteScope]

// Which units run at the same time: in one process, and in two on one database.

describe.skipIf(programs === undefined)('units of work on Postgres', () => {
  let cluster: Cluster
  let one: Database
  let other: Database
  /** Ada and Bob are members of the room, Cyd is not. */
  let [ada, bob, cyd, room] = [0, 0, 0, 0]

  beforeAll(async () => {
    cluster = await startPostgres()
    const url = await cluster.database(freshName())
    one = await openPostgres(url)
    other = await openPostgres(url)
    await migrate(one)
    await ensureTables(one, shapes)
    ada = await addUser('ada')
    bob = await addUser('bob')
    cyd = await addUser('cyd')
    room = await one.write('instance', async (tx) => {
      const id = (await insertRoom(tx, { name: 'team', type: 'channel', created_by: ada, pair: null }, 1))!
      await insertMembers(tx, id, [ada, bob], 1)
      return id
    })
  })
  afterAll(async () => {
    await Promise.all([one.close(), other.close()])
    await cluster.stop()
  })

  async function addUser(username: string): Promise<number> {
    const shown = { display_name: username, avatar_color: '#336699', role: 'user' as const }
    const account = { username, ...shown, password_hash: '-', quota_bytes: null }
    return (await one.write('instance', (tx) => insertAccount(tx, account, 1_000)))!
  }

  /** Holds a unit open until `end`; `begun` resolves inside of it. */
  function hold(database: Database, scope: WriteScope) {
    let end!: () => void
    let enter!: () => void
    const open = new Promise<void>((resolve) => (end = resolve))
    const begun = new Promise<void>((resolve) => (enter = resolve))
    const over = database.write(scope, async () => {
      enter()
      await open
    })
    onTestFinished(async () => {
      end()
      await over
    })
    return { begun, end, over }
  }

  /** Whether a unit of this scope waits for a lock of the database, or for its own process. */
  async function waits(first: Held, second: Held): Promise<boolean> {
    const held = hold(...first)
    await held.begun
    const late = hold(...second)
    const locked = async () => {
      for (;;) {
        const { rows } = await sql<{ n: number }>`select count(*) as n from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`.execute(one.read.q)
        if (rows[0]!.n > 0) return true
      }
    }
    const result = await Promise.race([late.begun.then(() => false), locked()])
    held.end()
    late.end()
    await Promise.all([held.over, late.over])
    return result
  }

  const cases: [string, () => Promise<boolean>, boolean][] = [
    ['of different accounts run together', () => waits([one, { accounts: [ada] }], [one, { accounts: [bob] }]), false],
    [
      'of different accounts run together in two processes',
      () => waits([one, { accounts: [ada] }], [other, { accounts: [bob] }]),
      false,
    ],
    [
      'of one account run after each other',
      () => waits([one, { accounts: [ada] }], [other, { accounts: [ada] }]),
      true,
    ],
    [
      'of a room wait for those of its members',
      () => waits([one, { accounts: [bob] }], [other, { rooms: [room], memberFeeds: [room] }]),
      true,
    ],
    [
      'of a member wait for those of the room',
      () => waits([one, { rooms: [room], memberFeeds: [room] }], [other, { accounts: [ada] }]),
      true,
    ],
    [
      'of a room that leave the feeds of its members alone do not wait for these',
      () => waits([one, { rooms: [room] }], [other, { accounts: [ada] }]),
      false,
    ],
    [
      'of others do not wait for a room',
      () => waits([one, { rooms: [room], memberFeeds: [room] }], [other, { accounts: [cyd] }]),
      false,
    ],
    [
      'that share something wait, in whatever order they name it',
      () => waits([one, { accounts: [ada], keys: ['a', 'b'] }], [other, { accounts: [bob], keys: ['b', 'c'] }]),
      true,
    ],
    [
      'that share nothing run together',
      () => waits([one, { accounts: [ada], keys: ['a', 'b'] }], [other, { accounts: [bob], keys: ['c', 'd'] }]),
      false,
    ],
    ['for the instance wait for all', () => waits([one, { accounts: [cyd] }], [other, 'instance']), true],
    ['wait for those for the instance', () => waits([one, 'instance'], [other, { accounts: [cyd] }]), true],
    [
      'with nothing in common run together',
      () => waits([one, {}], [other, { rooms: [room], memberFeeds: [room] }]),
      false,
    ],
  ]
  test.each(cases)('%s', async (_, run, expected) => {
    expect(await run()).toBe(expected)
  })

  test('that share much, each in its own order, never end each other', async () => {
    const keys = Array.from({ length: 50 }, (_, index) => `shared-${index}`)
    let runs = 0
    const claim = (database: Database, user: number, own: readonly string[]) =>
      database.write({ accounts: [user], keys: own }, async (tx) => {
        runs += 1
        for (const key of own)
          await sql`insert into contents (sha256, size, data, touched_at) values (${key}, 1, null, ${user})
            on conflict (sha256) do update set touched_at = excluded.touched_at`.execute(tx.q)
      })
    for (let round = 0; round < 10; round += 1)
      await Promise.all([claim(one, ada, keys), claim(other, bob, keys.toReversed()), claim(other, cyd, keys)])
    expect(runs).toBe(30)
  })

  test('that end each other in a deadlock run again, and both are kept', async () => {
    let inside = 0
    let open!: () => void
    const both = new Promise<void>((resolve) => (open = resolve))
    let runs = 0
    const cross = (database: Database, user: number, keys: readonly [string, string]) =>
      database.write({ accounts: [user] }, async (tx) => {
        runs += 1
        const touch = (key: string) =>
          sql`insert into contents (sha256, size, data, touched_at) values (${key}, 1, null, ${user})
              on conflict (sha256) do update set touched_at = excluded.touched_at`.execute(tx.q)
        await touch(keys[0])
        inside += 1
        if (inside >= 2) open()
        await both
        await touch(keys[1])
        return user
      })
    const results = await Promise.all([cross(one, ada, ['a', 'b']), cross(other, bob, ['b', 'a'])])
    expect(results).toEqual([ada, bob])
    // More often where the one that runs again is faster than the one that waits for its lock.
    expect(runs).toBeGreaterThan(2)
    const kept = await one.read.q
      .selectFrom('contents')
      .select('sha256')
      .where('sha256', 'in', ['a', 'b'])
      .orderBy('sha256')
      .execute()
    expect(kept.map(({ sha256 }) => sha256)).toEqual(['a', 'b'])
  })
})
