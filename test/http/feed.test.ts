import { describe, expect, test } from 'vitest'
import { DAY } from '../../src/base/clock.ts'
import { syncData } from '../../src/contract/sync-data.ts'
import { syncFiles } from '../../src/contract/sync-files.ts'
import { syncStatus } from '../../src/contract/sync-status.ts'
import { feedTables, SCHEMA_VERSION } from '../../src/contract/tables.ts'
import { advance, recordAll } from '../../src/storage/feed/changes.ts'
import type { Writer } from '../../src/storage/engine/database.ts'
import type { Account } from '../support/account.ts'
import { serverOfTest, serverOfFile } from '../support/server.ts'

const { delta, initial_sync: initialSync } = syncData.actions

const server = await serverOfFile()

const insert = (title: string, table = 'svc_notes') => ({ table, operation: 'INSERT', data: { title } })
const update = (id: number, title: string) => ({ table: 'svc_notes', operation: 'UPDATE', data: { id, title } })
const remove = (id: number, table = 'svc_notes') => ({ table, operation: 'DELETE', data: { id } })

const idsOf = async (account: Account, ...operations: Parameters<Account['push']>) =>
  (await account.push(...operations)).results.map(({ id }) => id!)

/** Changes in short: verb, id and title. */
const brief = async (account: Account, cursor: number) =>
  (await account.delta(cursor)).changes.map(({ operation, data, cursor: at }) => [
    operation,
    data.id,
    data['title'],
    at,
  ])

describe('the initial dump', () => {
  test('of a new account names every table, and where to go on from', async () => {
    const account = await server.account()
    const { epoch, server_id } = server.local.domain.instance.identity
    expect(await account.everything()).toEqual({
      ok: true,
      data: Object.fromEntries(feedTables.map((table) => [table, []])),
      cursor: 0,
      schema_version: SCHEMA_VERSION,
      epoch,
      server_id,
    })
    const info = await account.ask(syncStatus.actions.info, {})
    expect(info).toMatchObject({
      synced_tables: feedTables,
      current_cursor: 0,
      sync_schema_version: SCHEMA_VERSION,
      epoch,
      server_id,
    })
  })

  test('holds the rows that live, by id, and the files', async () => {
    const account = await server.account()
    const [a, b, c] = await idsOf(account, insert('a'), insert('b'), insert('c'))
    await account.push(remove(b!), update(a!, 'A'))
    await account.put('/docs/x.txt', 'x')
    const { data, cursor } = await account.everything()
    expect(data['svc_notes']!.map(({ id, title }) => [id, title])).toEqual([
      [a, 'A'],
      [c, 'c'],
    ])
    expect(data['svc_files']!.map(({ name, type }) => [name, type])).toEqual([
      ['docs', 'directory'],
      ['x.txt', 'file'],
    ])
    expect(cursor).toBe(7)
    expect((await account.delta(cursor)).changes).toEqual([])
  })

  test('is one’s own', async () => {
    const [account, stranger] = [await server.account(), await server.account()]
    await account.push(insert('mine'))
    await account.put('/mine.txt', 'mine')
    const { data, cursor } = await stranger.everything()
    expect([Object.values(data).flat(), cursor]).toEqual([[], 0])
    expect(await stranger.delta(0)).toMatchObject({ changes: [], cursor: 0, count: 0, has_more: false })
  })
})

describe('changes since a cursor', () => {
  test('a row is an INSERT to whom it is new, an UPDATE to whom it is not, and comes once', async () => {
    const account = await server.account()
    const [id] = await idsOf(account, insert('one'))
    await account.push(update(id!, 'two'))
    await account.push(update(id!, 'three'))
    expect(await brief(account, 0)).toEqual([['INSERT', id, 'three', 3]])
    expect(await brief(account, 1)).toEqual([['UPDATE', id, 'three', 3]])
    expect(await brief(account, 2)).toEqual([['UPDATE', id, 'three', 3]])
    expect(await brief(account, 3)).toEqual([])
  })

  test('a row that is gone is a DELETE of nothing but its id, for everybody', async () => {
    const account = await server.account()
    const [id] = await idsOf(account, insert('secret'))
    await account.push(remove(id!))
    for (const cursor of [0, 1]) {
      const { changes, count } = await account.delta(cursor)
      expect(changes).toEqual([{ table: 'svc_notes', operation: 'DELETE', data: { id }, cursor: 2 }])
      expect(count).toBe(1)
    }
  })

  test('come oldest first whichever tables they are of, each with its place', async () => {
    const account = await server.account()
    await account.push(insert('1'), insert('2', 'svc_tasks'), insert('3'), insert('4', 'svc_docs'))
    await account.put('/5.txt', '5')
    const [six] = await idsOf(account, insert('6', 'svc_tasks'))
    await account.push(remove(six!, 'svc_tasks'), insert('8'))
    const { changes, cursor, count, has_more } = await account.delta(0)
    expect(changes.map(({ table, operation, cursor: at }) => [table, operation, at])).toEqual([
      ['svc_notes', 'INSERT', 1],
      ['svc_tasks', 'INSERT', 2],
      ['svc_notes', 'INSERT', 3],
      ['svc_docs', 'INSERT', 4],
      ['svc_files', 'INSERT', 5],
      ['svc_tasks', 'DELETE', 7],
      ['svc_notes', 'INSERT', 8],
    ])
    expect([cursor, count, has_more]).toEqual([8, 7, false])
  })

  test('are the same rows, byte for byte, as in the initial dump', async () => {
    const account = await server.account()
    await account.push(insert('a'), {
      table: 'svc_docs',
      operation: 'INSERT',
      data: { title: 'b', tags: ['x', 'y'], archived: true },
    })
    await account.put('/d/x.txt', 'x', { mtime: 1_700_000_000 })
    const { data } = await account.everything()
    const { changes } = await account.delta(0)
    const rows = Object.entries(data).flatMap(([table, all]) => all.map((row) => ({ table, row })))
    expect(changes.map(({ table, data: row }) => ({ table, row }))).toEqual(rows)
  })

  test('carry the server’s identity', async () => {
    const account = await server.account()
    expect(await account.delta(0)).toMatchObject({ ok: true, ...server.local.domain.instance.identity })
  })

  test('of a file are those of its row, without content, owner or anything of the storage', async () => {
    const account = await server.account()
    await account.put('/docs/x.txt', 'hello', { mtime: 1_700_000_000 })
    const { changes } = await account.delta(0)
    const [folder, file] = changes.map(({ data }) => data)
    const times = {
      created_at: new Date(server.clock.now()).toISOString(),
      updated_at: new Date(server.clock.now()).toISOString(),
    }
    expect(folder).toEqual({
      id: folder!.id,
      parent_id: null,
      name: 'docs',
      type: 'directory',
      size: null,
      sha256: null,
      mtime: null,
      version: 1,
      ...times,
    })
    expect(file).toEqual({
      id: file!.id,
      parent_id: folder!.id,
      name: 'x.txt',
      type: 'file',
      size: 5,
      sha256: '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824',
      mtime: 1_700_000_000,
      version: 1,
      ...times,
    })
  })
})

describe('a page', () => {
  const pages = async (account: Account, limit: number) => {
    const seen: { cursors: number[]; has_more: boolean; count: number; cursor: number }[] = []
    for (let cursor = 0, more = true; more;) {
      const page = await account.delta(cursor, { limit })
      seen.push({
        cursors: page.changes.map((change) => change.cursor),
        has_more: page.has_more,
        count: page.count,
        cursor: page.cursor,
      })
      cursor = page.cursor
      more = page.has_more
    }
    return seen
  }

  test.each([
    [1, [[1], [2], [3], [4], [5], [6]]],
    [
      2,
      [
        [1, 2],
        [3, 4],
        [5, 6],
      ],
    ],
    [
      4,
      [
        [1, 2, 3, 4],
        [5, 6],
      ],
    ],
    [6, [[1, 2, 3, 4, 5, 6]]],
    [7, [[1, 2, 3, 4, 5, 6]]],
    [5_000, [[1, 2, 3, 4, 5, 6]]],
    [999_999_999_999_999, [[1, 2, 3, 4, 5, 6]]],
  ])('of %i changes ends where the next begins, and the last says that it is', async (limit, expected) => {
    const account = await server.account()
    await account.push(
      insert('1'),
      insert('2', 'svc_tasks'),
      insert('3'),
      insert('4', 'svc_docs'),
      insert('5'),
      insert('6', 'svc_tasks'),
    )
    const seen = await pages(account, limit)
    expect(seen.map(({ cursors }) => cursors)).toEqual(expected)
    expect(seen.map(({ cursor }) => cursor)).toEqual(expected.map((page) => page.at(-1)))
    expect(seen.map(({ count }) => count)).toEqual(expected.map((page) => page.length))
    expect(seen.map(({ has_more }) => has_more)).toEqual(expected.map((_, index) => index < expected.length - 1))
  })

  test('holds 1000 changes unless told otherwise, and never more than 5000', async () => {
    const account = await server.account()
    const hundred = Array.from({ length: 100 }, (_, index) => insert(String(index)))
    for (let round = 0; round < 51; round += 1) await account.push(...hundred)
    expect(await account.delta(0)).toMatchObject({ count: 1_000, cursor: 1_000, has_more: true })
    for (const limit of [5_000, 5_001, 1_000_000]) {
      expect(await account.delta(0, { limit })).toMatchObject({ count: 5_000, cursor: 5_000, has_more: true })
    }
    expect(await account.delta(5_000, { limit: 5_001 })).toMatchObject({ count: 100, cursor: 5_100, has_more: false })
  })

  test.each(['0', '-1', '1e3', '0x10', ' 5', '5.0', '', 'all', '1234567890123456'])(
    'of %j changes there is none',
    async (limit) => {
      const account = await server.account()
      const reply = await account.call(delta, { cursor: 0, limit })
      expect([reply.status, reply.json['code']]).toEqual([400, 'bad_request'])
    },
  )
})

describe('a cursor', () => {
  test('beyond the head belongs to another server or another time', async () => {
    const account = await server.account()
    await account.push(insert('a'))
    for (const cursor of [2, 1_000, 999_999_999_999_999]) {
      const reply = await account.call(delta, { cursor })
      expect([reply.status, reply.json['code']]).toEqual([409, 'epoch_mismatch'])
    }
    expect((await account.delta(1)).changes).toEqual([])
  })

  test('of another epoch is refused, one of ours is not', async () => {
    const account = await server.account()
    await account.push(insert('a'))
    const { epoch } = server.local.domain.instance.identity
    const foreign = await account.call(delta, { cursor: 0, epoch: 'f'.repeat(32) })
    expect([foreign.status, foreign.json['code']]).toEqual([409, 'epoch_mismatch'])
    expect((await account.call(delta, { cursor: 0, epoch })).json).toMatchObject({ count: 1 })
  })

  test('is good for as long as the deletions after it are remembered, to the millisecond', async () => {
    const own = await serverOfTest()
    await own.set('auth.device_idle_days', 0)
    await own.set('auth.device_max_days', 0)
    const account = await own.account()
    const [a, b] = await idsOf(account, insert('a'), insert('b'), insert('c'))
    await account.push(remove(a!))
    own.clock.pass(DAY)
    await account.push(remove(b!))

    own.clock.pass(179 * DAY)
    expect(await own.local.domain.instance.upkeep()).toMatchObject({ tombstones: 0 })
    expect(await brief(account, 0)).toEqual([
      ['INSERT', expect.any(Number), 'c', 3],
      ['DELETE', a, undefined, 4],
      ['DELETE', b, undefined, 5],
    ])

    own.clock.pass(1)
    expect(await own.local.domain.instance.upkeep()).toMatchObject({ tombstones: 1 })
    for (const cursor of [0, 3]) {
      const expired = await account.call(delta, { cursor })
      expect([expired.status, expired.json['code']]).toEqual([410, 'cursor_expired'])
    }
    // Whoever has seen the deletion that was forgotten misses nothing.
    expect(await brief(account, 4)).toEqual([['DELETE', b, undefined, 5]])

    own.clock.pass(DAY)
    await own.local.domain.instance.upkeep()
    expect((await account.call(delta, { cursor: 4 })).status).toBe(410)
    expect((await account.delta(5)).changes).toEqual([])
    const { data, cursor } = await account.everything()
    expect([data['svc_notes']!.map(({ title }) => title), cursor]).toEqual([['c'], 5])
    await account.push(insert('d'))
    expect(await brief(account, 5)).toEqual([['INSERT', expect.any(Number), 'd', 6]])
  })

  test('of one account is not expired by another’s forgotten deletions', async () => {
    const own = await serverOfTest()
    await own.set('auth.device_idle_days', 0)
    await own.set('auth.device_max_days', 0)
    const [account, other] = [await own.account(), await own.account()]
    const [id] = await idsOf(other, insert('x'))
    await other.push(remove(id!))
    await account.push(insert('mine'))
    own.clock.pass(181 * DAY)
    await own.local.domain.instance.upkeep()
    expect(await brief(account, 0)).toEqual([['INSERT', expect.any(Number), 'mine', 1]])
    expect((await other.call(delta, { cursor: 0 })).status).toBe(410)
  })
})

describe('rows that other parts of the service write', () => {
  /** A room with its members and one message, as the chat will write them. */
  async function room(
    members: Account[],
  ): Promise<{ room: number; message: number; leave: (account: Account) => Promise<void> }> {
    const { database, clock } = server
    const now = clock.now()
    const note = async (tx: Writer, table: string, row: number, deleted = false) => {
      for (const { id: user } of members)
        await recordAll(tx, user, (await advance(tx, user, 1)).seq, now, [{ table, row, deleted }])
    }
    const made = await database.write('instance', async (tx) => {
      const values = {
        name: 'tea',
        type: 'channel' as const,
        created_by: members[0]!.id,
        version: 1,
        created_at: now,
        updated_at: now,
      }
      const { id: roomId } = await tx.q.insertInto('rooms').values(values).returning('id').executeTakeFirstOrThrow()
      for (const { id } of members)
        await tx.q.insertInto('room_members').values({ room_id: roomId, user_id: id, joined_at: now }).execute()
      await note(tx, 'svc_rooms', roomId)
      const text = {
        room_id: roomId,
        user_id: members[0]!.id,
        content: 'hi',
        timestamp: now,
        edited_at: null,
        reply_to: null,
        version: 1,
      }
      const { id: message } = await tx.q.insertInto('messages').values(text).returning('id').executeTakeFirstOrThrow()
      await note(tx, 'svc_messages', message)
      return { room: roomId, message }
    })
    const leave = ({ id: user }: Account) =>
      database.write('instance', async (tx) => {
        await tx.q.deleteFrom('room_members').where('room_id', '=', made.room).where('user_id', '=', user).execute()
        const { seq } = await advance(tx, user, 1)
        await recordAll(tx, user, seq, now, [{ table: 'svc_rooms', row: made.room, deleted: false }])
      })
    return { ...made, leave }
  }

  test('reach the members of a room and nobody else', async () => {
    const [ada, bob, eve] = [await server.account(), await server.account(), await server.account()]
    const { room: roomId, message } = await room([ada, bob])
    const at = new Date(server.clock.now()).toISOString()
    for (const member of [ada, bob]) {
      expect((await member.delta(0)).changes).toEqual([
        {
          table: 'svc_rooms',
          operation: 'INSERT',
          cursor: 1,
          data: {
            id: roomId,
            name: 'tea',
            type: 'channel',
            created_by: ada.id,
            version: 1,
            created_at: at,
            updated_at: at,
          },
        },
        {
          table: 'svc_messages',
          operation: 'INSERT',
          cursor: 2,
          data: {
            id: message,
            room_id: roomId,
            user_id: ada.id,
            content: 'hi',
            timestamp: at,
            edited_at: null,
            reply_to: null,
            version: 1,
          },
        },
      ])
    }
    expect((await eve.delta(0)).changes).toEqual([])
    expect((await eve.everything()).data).toMatchObject({ svc_rooms: [], svc_messages: [] })
  })

  test('end for a member who leaves, and live on for the others', async () => {
    const [ada, bob] = [await server.account(), await server.account()]
    const { room: roomId, leave } = await room([ada, bob])
    await leave(bob)
    expect((await bob.delta(2)).changes).toEqual([
      { table: 'svc_rooms', operation: 'DELETE', data: { id: roomId }, cursor: 3 },
    ])
    expect((await bob.everything()).data).toMatchObject({ svc_rooms: [], svc_messages: [] })
    // What was said there before is not told any more either.
    expect(JSON.stringify((await bob.delta(0)).changes)).not.toContain('hi')
    expect((await ada.everything()).data).toMatchObject({
      svc_rooms: [{ id: roomId }],
      svc_messages: [{ content: 'hi' }],
    })
  })
})

test('changing a folder’s place tells of one row, deleting it of each', async () => {
  const account = await server.account()
  const { move, delete: del, mkdir } = syncFiles.actions
  await account.put('/a/b/1.txt', '1')
  await account.put('/a/b/2.txt', '2')
  await account.ask(mkdir, { path: '/a/c' })
  const rows = (await account.everything()).data['svc_files']!
  const ids = new Map(rows.map(({ name, id }) => [name, id]))

  await account.ask(move, { from: '/a', to: '/z' })
  expect((await account.delta(5)).changes).toMatchObject([
    { operation: 'UPDATE', data: { id: ids.get('a'), name: 'z', parent_id: null, version: 2 }, cursor: 6 },
  ])

  await account.ask(del, { path: '/z' })
  const { changes, cursor } = await account.delta(6)
  expect(changes.map(({ table, operation, cursor: at }) => [table, operation, at])).toEqual(
    [7, 8, 9, 10, 11].map((at) => ['svc_files', 'DELETE', at]),
  )
  expect(new Set(changes.map(({ data }) => data.id))).toEqual(new Set(ids.values()))
  expect(changes.map(({ data }) => Object.keys(data))).toEqual(changes.map(() => ['id']))
  expect(cursor).toBe(11)
  expect((await account.call(initialSync)).json).toMatchObject({ cursor: 11, data: { svc_files: [] } })
})
