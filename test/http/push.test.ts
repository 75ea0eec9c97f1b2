import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { SECOND } from '../../src/base/clock.ts'
import { syncData } from '../../src/contract/sync-data.ts'
import { readOnlyTables, tables, type Column, type TableName } from '../../src/contract/tables.ts'
import type { Account } from '../support/account.ts'
import { serverOfFile } from '../support/server.ts'
import { commitsSeenBy } from '../support/state.ts'

const { push } = syncData.actions

const server = await serverOfFile()

const insert = (data: object, table = 'svc_notes') => ({ table, operation: 'INSERT', data })
const update = (id: number | null, data: object, more: object = {}) => ({
  table: 'svc_notes',
  operation: 'UPDATE',
  data: { id, ...data },
  ...more,
})
const remove = (id: number | null, more: object = {}) => ({
  table: 'svc_notes',
  operation: 'DELETE',
  data: { id },
  ...more,
})

async function withNote(): Promise<{ account: Account; id: number }> {
  const account = await server.account()
  const { results } = await account.push(insert({ title: 'Tea', content: 'Earl Grey', category: 'kitchen' }))
  return { account, id: results[0]!.id! }
}

const notes = async (account: Account) => (await account.everything()).data['svc_notes']!

describe('an INSERT', () => {
  test('makes a row with its defaults, version and times, and says where it is', async () => {
    const account = await server.account()
    const answer = await account.push(insert({ title: 'Tea' }))
    const id = answer.results[0]!.id
    expect(answer).toEqual({
      ok: true,
      results: [{ index: 0, ok: true, status: 'applied', table: 'svc_notes', operation: 'INSERT', id, version: 1 }],
      cursor: 1,
      contiguous: true,
    })
    const now = new Date(server.clock.now()).toISOString()
    expect(await notes(account)).toEqual([
      {
        id,
        title: 'Tea',
        content: null,
        category: null,
        pinned: false,
        color: null,
        version: 1,
        created_at: now,
        updated_at: now,
      },
    ])
  })

  test('never gives an id twice, not even that of a row that is gone', async () => {
    const { account, id } = await withNote()
    await account.push(remove(id))
    const { results } = await account.push(insert({ title: 'Coffee' }))
    expect(results[0]!.id).toBeGreaterThan(id)
  })

  test.each([
    'id',
    'user_id',
    'version',
    'created_at',
    'updated_at',
    'rowid',
    '__proto',
    'toString',
    'TITLE',
    'title ',
  ])('with the column %s is refused, not trimmed', async (column) => {
    const account = await server.account()
    const { results, cursor } = await account.push(insert({ title: 'Tea', [column]: 1 }))
    expect(results).toEqual([
      expect.objectContaining({ ok: false, status: 'error', code: 'unknown_column', id: null, version: null }),
    ])
    expect(results[0]!.error).toContain(JSON.stringify(column))
    expect(cursor).toBe(0)
    expect(await notes(account)).toEqual([])
  })
})

describe('an UPDATE', () => {
  test('changes the columns it names and leaves the others', async () => {
    const { account, id } = await withNote()
    server.clock.pass(5 * SECOND)
    const { results, cursor } = await account.push(update(id, { content: 'Assam' }))
    expect(results).toEqual([
      { index: 0, ok: true, status: 'applied', table: 'svc_notes', operation: 'UPDATE', id, version: 2 },
    ])
    expect(cursor).toBe(2)
    const now = server.clock.now()
    expect(await notes(account)).toMatchObject([
      {
        title: 'Tea',
        content: 'Assam',
        category: 'kitchen',
        version: 2,
        created_at: new Date(now - 5 * SECOND).toISOString(),
        updated_at: new Date(now).toISOString(),
      },
    ])
  })

  test('of other columns by two devices keeps both', async () => {
    const { account, id } = await withNote()
    const other = await account.another()
    await account.push(update(id, { content: 'Assam' }))
    await other.push(update(id, { category: 'shopping' }))
    expect(await notes(account)).toMatchObject([{ content: 'Assam', category: 'shopping', version: 3 }])
  })

  test('of the same column by two devices keeps the later', async () => {
    const { account, id } = await withNote()
    const other = await account.another()
    await account.push(update(id, { content: 'Assam' }))
    await other.push(update(id, { content: 'Darjeeling' }))
    expect(await notes(account)).toMatchObject([{ content: 'Darjeeling', version: 3 }])
  })

  test('can empty a column that may be empty, and no other', async () => {
    const { account, id } = await withNote()
    const { results } = await account.push(
      update(id, { content: null }),
      update(id, { title: null }),
      update(id, { pinned: null }),
    )
    expect(results.map(({ ok, code }) => [ok, code])).toEqual([
      [true, undefined],
      [false, 'bad_value'],
      [false, 'bad_value'],
    ])
    expect(await notes(account)).toMatchObject([{ title: 'Tea', content: null, pinned: false, version: 2 }])
  })

  test('without columns changes nothing and moves nothing', async () => {
    const { account, id } = await withNote()
    const answer = await account.push(update(id, {}))
    expect(answer).toMatchObject({ results: [{ ok: true, status: 'applied', id, version: 1 }], cursor: 1 })
    expect((await account.delta(1)).changes).toEqual([])
  })

  test('of a row that is gone is said to be', async () => {
    const { account, id } = await withNote()
    await account.push(remove(id))
    const { results, cursor } = await account.push(update(id, { title: 'Coffee' }))
    expect(results).toMatchObject([{ ok: false, status: 'error', code: 'gone', id, version: null }])
    expect(cursor).toBe(2)
    expect(await notes(account)).toEqual([])
  })

  test.each([undefined, null, 0, -1, 1.5, '1', true, [], {}, 2 ** 53])(
    'needs the id of a row, which %j is not',
    async (id) => {
      const { account } = await withNote()
      const { results } = await account.push(
        { table: 'svc_notes', operation: 'UPDATE', data: { id, title: 'x' } },
        { table: 'svc_notes', operation: 'DELETE', data: { id } },
      )
      expect(results.map(({ code }) => code)).toEqual(['bad_value', 'bad_value'])
      expect(await notes(account)).toMatchObject([{ title: 'Tea' }])
    },
  )
})

describe('a DELETE', () => {
  test('removes the row, and what is gone may be deleted again', async () => {
    const { account, id } = await withNote()
    const first = await account.push(remove(id))
    expect(first.results).toEqual([
      { index: 0, ok: true, status: 'applied', table: 'svc_notes', operation: 'DELETE', id, version: null },
    ])
    expect(await notes(account)).toEqual([])
    const again = await account.push(remove(id), remove(id + 1_000))
    expect(again.results.map(({ ok, status }) => [ok, status])).toEqual([
      [true, 'applied'],
      [true, 'applied'],
    ])
    // Nothing changed, so nobody is told of a change.
    expect([first.cursor, again.cursor]).toEqual([2, 2])
    expect((await account.delta(2)).changes).toEqual([])
  })
})

describe('the version a change is based on', () => {
  test('lets it pass when it is the row’s', async () => {
    const { account, id } = await withNote()
    const { results } = await account.push(
      update(id, { title: 'Coffee' }, { base_version: 1 }),
      update(id, { title: 'Cocoa' }, { base_version: 2 }),
    )
    expect(results.map(({ status, version }) => [status, version])).toEqual([
      ['applied', 2],
      ['applied', 3],
    ])
  })

  test.each(['UPDATE', 'DELETE'])('stops a stale %s, which writes nothing and is shown the row', async (operation) => {
    const { account, id } = await withNote()
    await account.push(update(id, { title: 'Coffee', pinned: true }))
    const before = await commitsSeenBy(server.database)
    const { results, cursor } = await account.push({ table: 'svc_notes', operation, data: { id }, base_version: 1 })
    expect(results).toEqual([
      {
        index: 0,
        ok: false,
        status: 'conflict',
        code: 'conflict',
        error: expect.any(String) as string,
        table: 'svc_notes',
        operation,
        id,
        version: 2,
        current: (await notes(account))[0],
      },
    ])
    expect(results[0]!.current).toMatchObject({ id, title: 'Coffee', pinned: true, version: 2 })
    expect(cursor).toBe(2)
    expect(await commitsSeenBy(server.database)).toBe(before)
  })

  test('makes no difference to a row that is gone', async () => {
    const { account, id } = await withNote()
    await account.push(remove(id))
    const { results } = await account.push(
      update(id, { title: 'x' }, { base_version: 1 }),
      remove(id, { base_version: 1 }),
    )
    expect(results.map(({ status, code }) => [status, code])).toEqual([
      ['error', 'gone'],
      ['applied', undefined],
    ])
  })
})

describe('an operation that makes no sense', () => {
  const good = insert({ title: 'good' })

  test.each([
    ['unknown_table', { ...good, table: 'svc_nonsense' }],
    ['unknown_table', { ...good, table: 'users' }],
    ['unknown_table', { ...good, table: 'sqlite_master' }],
    ['unknown_table', { ...good, table: '__proto__' }],
    ['unknown_table', { ...good, table: 'constructor' }],
    ['unknown_table', { ...good, table: 'svc_notes; drop table users' }],
    ['unknown_table', { ...good, table: 5 }],
    ['unknown_table', { ...good, table: null }],
    ['unknown_table', { operation: 'INSERT', data: { title: 'x' } }],
    ['unknown_table', {}],
    ...Object.keys(readOnlyTables).map((table) => ['read_only', { ...good, table }] as const),
    ['bad_operation', { ...good, operation: 'insert' }],
    ['bad_operation', { ...good, operation: 'UPSERT' }],
    ['bad_operation', { ...good, operation: undefined }],
    ['bad_operation', { ...good, operation: ['INSERT'] }],
    ['bad_value', { ...good, data: undefined }],
    ['bad_value', { ...good, data: null }],
    ['bad_value', { ...good, data: 'x' }],
    ['bad_value', { ...good, data: [{ title: 'x' }] }],
    ['bad_value', { ...good, data: {} }],
  ] as const)('is refused as %s and stands in nobody’s way: %j', async (code, operation) => {
    const account = await server.account()
    const { results, cursor } = await account.push(insert({ title: 'first' }), operation, insert({ title: 'last' }))
    expect(results).toMatchObject([
      { index: 0, ok: true, status: 'applied' },
      { index: 1, ok: false, status: 'error', code, id: null, version: null, error: expect.any(String) as string },
      { index: 2, ok: true, status: 'applied' },
    ])
    expect(cursor).toBe(2)
    expect((await notes(account)).map(({ title }) => title)).toEqual(['first', 'last'])
  })

  test('is undone alone also when it fails in the database', async () => {
    const { account, id } = await withNote()
    const { results, cursor } = await account.push(
      update(id, { title: 'one' }),
      update(id, { title: 'two' }, { base_version: 1 }),
      insert({ title: 'new', nonsense: 1 }),
      update(id, { category: 'three' }),
    )
    expect(results.map(({ status }) => status)).toEqual(['applied', 'conflict', 'error', 'applied'])
    expect(cursor).toBe(3)
    expect(await notes(account)).toMatchObject([{ title: 'one', category: 'three', version: 3 }])
  })

  test('refuses nobody else’s, even when it is not an object or misspells its op_id or base_version', async () => {
    const account = await server.account()
    const odd = [
      null,
      5,
      'INSERT',
      [good],
      { ...good, op_id: 'not-a-uuid' },
      { ...good, op_id: 5 },
      { ...good, base_version: '1' },
      { ...good, base_version: -1 },
    ]
    const reply = await account.call(push, { operations: [...odd, good] })
    expect(reply.status).toBe(200)
    const results = reply.json['results'] as { ok: boolean; status: string; code?: string }[]
    expect(results.slice(0, -1).map(({ ok, status }) => [ok, status])).toEqual(odd.map(() => [false, 'error']))
    expect(results.at(-1)).toMatchObject({ ok: true, status: 'applied', index: odd.length })
    expect((await notes(account)).map(({ title }) => title)).toEqual(['good'])
  })
})

describe('how many operations', () => {
  test('100 are applied, in their order', async () => {
    const account = await server.account()
    const { results, cursor } = await account.push(
      ...Array.from({ length: 100 }, (_, index) => insert({ title: `note ${index}` })),
    )
    expect(results.map(({ index, ok }) => [index, ok])).toEqual(
      Array.from({ length: 100 }, (_, index) => [index, true]),
    )
    expect(cursor).toBe(100)
    expect((await notes(account)).map(({ title }) => title)).toEqual(
      Array.from({ length: 100 }, (_, index) => `note ${index}`),
    )
  })

  test('101 are refused as a whole', async () => {
    const account = await server.account()
    const before = await commitsSeenBy(server.database)
    const operations = Array.from({ length: 101 }, () => insert({ title: 'x' }))
    const { status, json } = await account.call(push, { operations }, { headers: { 'idempotency-key': 'k' } })
    expect([status, json['code']]).toEqual([400, 'too_many_operations'])
    expect(await commitsSeenBy(server.database)).toBe(before)
  })

  test('none is well enough', async () => {
    const { account } = await withNote()
    expect(await account.push()).toEqual({ ok: true, results: [], cursor: 1, contiguous: true })
  })
})

describe('the cursor of the answer', () => {
  const pushFrom = (account: Account, cursor: number | undefined, ...operations: object[]) =>
    account.ask(push, { operations, ...(cursor === undefined ? {} : { cursor }) })

  test('may be taken over when nobody else wrote since the one that was named', async () => {
    const { account } = await withNote()
    expect(await pushFrom(account, 1, insert({ title: 'a' }), insert({ title: 'b' }))).toMatchObject({
      cursor: 3,
      contiguous: true,
    })
  })

  test('is the named one when others wrote in between, so that nothing of theirs is skipped', async () => {
    const { account } = await withNote()
    const other = await account.another()
    await other.push(insert({ title: 'theirs 1' }), insert({ title: 'theirs 2' }))
    const answer = await pushFrom(account, 1, insert({ title: 'mine' }))
    expect(answer).toMatchObject({ cursor: 1, contiguous: false, results: [{ ok: true }] })
    const { changes, cursor } = await account.delta(answer.cursor)
    expect(changes.map(({ data }) => data['title'])).toEqual(['theirs 1', 'theirs 2', 'mine'])
    expect(cursor).toBe(4)
  })

  test('is the named one also when that lies ahead of everything', async () => {
    const { account } = await withNote()
    expect(await pushFrom(account, 99, insert({ title: 'a' }))).toMatchObject({ cursor: 99, contiguous: false })
  })

  test('is the head when none is named', async () => {
    const { account } = await withNote()
    await (await account.another()).push(insert({ title: 'theirs' }))
    expect(await pushFrom(account, undefined, insert({ title: 'mine' }))).toMatchObject({ cursor: 3, contiguous: true })
  })
})

describe('an op_id', () => {
  test('that comes again answers what was answered and writes nothing', async () => {
    const account = await server.account()
    const op_id = randomUUID()
    const first = await account.push({ ...insert({ title: 'Tea' }), op_id })
    const before = await commitsSeenBy(server.database)
    const again = await account.push({ ...insert({ title: 'Tea' }), op_id })
    expect(first.results[0]).toMatchObject({ status: 'applied', op_id })
    expect(again.results).toEqual([{ ...first.results[0], status: 'duplicate' }])
    expect(again.cursor).toBe(1)
    expect(await commitsSeenBy(server.database)).toBe(before)
    expect(await notes(account)).toHaveLength(1)
  })

  test('is known in another device, in the same push and in another order of columns', async () => {
    const account = await server.account()
    const other = await account.another()
    const op_id = randomUUID()
    const twice = { table: 'svc_notes', operation: 'INSERT', data: { title: 'Tea', content: 'x' }, op_id }
    const { results } = await account.push(twice, twice)
    expect(results.map(({ index, status }) => [index, status])).toEqual([
      [0, 'applied'],
      [1, 'duplicate'],
    ])
    const again = await other.push({
      op_id,
      data: { content: 'x', title: 'Tea' },
      operation: 'INSERT',
      table: 'svc_notes',
    })
    expect(again.results[0]).toMatchObject({ status: 'duplicate', id: results[0]!.id })
    expect(await notes(account)).toHaveLength(1)
  })

  test('of an UPDATE or DELETE that comes again changes nothing that came after it', async () => {
    const { account, id } = await withNote()
    const [a, b] = [randomUUID(), randomUUID()]
    await account.push(update(id, { title: 'first' }, { op_id: a }))
    await account.push(update(id, { title: 'second' }))
    expect((await account.push(update(id, { title: 'first' }, { op_id: a }))).results).toMatchObject([
      { status: 'duplicate', version: 2 },
    ])
    expect(await notes(account)).toMatchObject([{ title: 'second', version: 3 }])
    await account.push(remove(id, { op_id: b }))
    expect((await account.push(remove(id, { op_id: b }))).results).toMatchObject([{ status: 'duplicate', id }])
  })

  test('for something else is refused, and so is nothing beside it', async () => {
    const account = await server.account()
    const op_id = randomUUID()
    await account.push({ ...insert({ title: 'Tea' }), op_id })
    const { results } = await account.push({ ...insert({ title: 'Coffee' }), op_id }, insert({ title: 'Cocoa' }))
    expect(results).toMatchObject([{ ok: false, status: 'error', code: 'op_id_reuse', op_id, id: null }, { ok: true }])
    expect((await notes(account)).map(({ title }) => title)).toEqual(['Tea', 'Cocoa'])
  })

  test('of an operation that was refused may come again, mended', async () => {
    const account = await server.account()
    const op_id = randomUUID()
    expect((await account.push({ ...insert({ titel: 'Tea' }), op_id })).results).toMatchObject([
      { code: 'unknown_column', op_id },
    ])
    expect((await account.push({ ...insert({ title: 'Tea' }), op_id })).results).toMatchObject([
      { status: 'applied', op_id },
    ])
  })

  test('belongs to its user', async () => {
    const [account, stranger] = [await server.account(), await server.account()]
    const op_id = randomUUID()
    const [mine] = (await account.push({ ...insert({ title: 'mine' }), op_id })).results
    const [theirs] = (await stranger.push({ ...insert({ title: 'mine' }), op_id })).results
    expect(theirs).toMatchObject({ status: 'applied' })
    expect(theirs!.id).not.toBe(mine!.id)
  })
})

describe('an Idempotency-Key', () => {
  const keyed = (account: Account, key: string, body: object) =>
    account.call(push, body, { headers: { 'idempotency-key': key } })
  const body = { operations: [insert({ title: 'Tea' })], cursor: 0 }

  test('gives a repetition the first answer, byte for byte, and writes nothing', async () => {
    const account = await server.account()
    const first = await keyed(account, 'key-1', body)
    await account.push(insert({ title: 'in between' }))
    const before = await commitsSeenBy(server.database)
    const again = await keyed(account, 'key-1', body)
    expect([first.status, again.status]).toEqual([200, 200])
    expect(again.bytes.toString()).toBe(first.bytes.toString())
    expect(await commitsSeenBy(server.database)).toBe(before)
    expect((await notes(account)).map(({ title }) => title)).toEqual(['Tea', 'in between'])
  })

  test('used for another request is refused, and nothing is written', async () => {
    const account = await server.account()
    await keyed(account, 'key-1', body)
    const before = await commitsSeenBy(server.database)
    const reply = await keyed(account, 'key-1', { ...body, operations: [insert({ title: 'Coffee' })] })
    expect([reply.status, reply.json['code']]).toEqual([422, 'idempotency_key_reuse'])
    expect(await commitsSeenBy(server.database)).toBe(before)
  })

  test('sent many times at once is done once', async () => {
    const account = await server.account()
    const replies = await Promise.all(Array.from({ length: 8 }, () => keyed(account, 'key-1', body)))
    expect(new Set(replies.map(({ status, bytes }) => `${status} ${bytes.toString()}`)).size).toBe(1)
    expect(await notes(account)).toHaveLength(1)
  })

  test('belongs to its user', async () => {
    const [account, stranger] = [await server.account(), await server.account()]
    await keyed(account, 'key-1', body)
    await keyed(stranger, 'key-1', body)
    expect(await notes(stranger)).toHaveLength(1)
  })

  test.each(['', 'with space', 'ü', 'a'.repeat(256)])('is one to 255 printable characters, unlike %j', async (key) => {
    const account = await server.account()
    const reply = await keyed(
      account,
      encodeURI(key) === key || key.includes(' ') ? key : Buffer.from(key).toString('latin1'),
      body,
    )
    expect([reply.status, reply.json['code']]).toEqual([400, 'bad_request'])
    expect(await notes(account)).toEqual([])
  })
})

test('rows of somebody else are as good as gone', async () => {
  const { account, id } = await withNote()
  const stranger = await server.account()
  const { results, cursor } = await stranger.push(
    update(id, { title: 'mine now' }),
    remove(id),
    update(id, { title: 'x' }, { base_version: 7 }),
  )
  expect(results).toMatchObject([{ code: 'gone' }, { ok: true, version: null }, { code: 'gone' }])
  expect(JSON.stringify(results)).not.toContain('Earl Grey')
  expect(cursor).toBe(0)
  expect(await notes(account)).toMatchObject([{ title: 'Tea', version: 1 }])
  expect((await account.delta(1)).changes).toEqual([])
  expect(await notes(stranger)).toEqual([])
})

describe('the values of a column', () => {
  const long = (column: Column) => 'x'.repeat(column.max!)
  const unsound = ['\0', 'a\0b', '\ud800', 'x\udc00y', '\udc00\ud800']

  function good(column: Column): unknown[] {
    const { type, values, pattern, min, max } = column
    if (values) return [...values]
    if (pattern && type === 'texts') return [[], ['0'], ['-540', '10', '999999']]
    if (pattern) return ['EUR', 'XXX', '00:00', '23:59'].filter((text) => new RegExp(pattern).test(text))
    switch (type) {
      case 'text':
        return [
          'x',
          ' ',
          'ü 😀 e\u0301',
          "'; drop table users; --",
          '<b>&amp;</b>\r\n\t',
          '\u202e',
          '\ufeff',
          long(column),
          '😀'.repeat(Math.min(max!, 1_000)),
        ]
      case 'integer':
        return [0, 1, min ?? -Number.MAX_SAFE_INTEGER, max ?? Number.MAX_SAFE_INTEGER]
      case 'real':
        return [0, 1.5, -12.345678901234567, 1e-300, min!, max!]
      case 'boolean':
        return [true, false]
      case 'date':
        return ['2026-11-21', '2024-02-29', '0001-01-01', '9999-12-31']
      case 'timestamp':
        return [
          '2026-11-21T03:04:05Z',
          '2026-11-21T03:04:05.678Z',
          '2024-02-29T23:59:59+02:00',
          '0001-01-01T00:00:00.000000001Z',
        ]
      case 'texts':
        return [[], [''], ['a', 'a'], ['\\u0000 \\ud800', '😀'], ['x'.repeat(500)]]
    }
  }

  function bad(column: Column): unknown[] {
    const { type, values, pattern, min, max } = column
    if (values) return ['', 'other', values[0]!.toUpperCase(), 1, true, []]
    if (pattern && type === 'texts') return ['10', [10], ['soon'], ['1.5'], ['10\n'], ['12345678'], ['']]
    if (pattern) return ['', 'eur', 'EURO', 'EU', 'EUR ', 'EUR\n', '€€€', '24:00', '9:00', '09:60', '09:00:00', 5]
    switch (type) {
      case 'text':
        return [1, true, [], {}, `${long(column)}x`, ...unsound]
      case 'integer':
        return ['1', '', 1.5, true, [], {}, (min ?? -Number.MAX_SAFE_INTEGER) - 1, (max ?? Number.MAX_SAFE_INTEGER) + 1]
      case 'real':
        return ['1', '', true, [], {}, min! - 0.001, max! + 0.001]
      case 'boolean':
        return [0, 1, '', 'true', [], {}]
      case 'date':
        return [
          '',
          '2026-02-30',
          '2026-02-29',
          '2026-04-31',
          '2026-13-01',
          '2026-00-10',
          '2026-01-00',
          '2026-01-32',
          '2026-1-1',
          '26-01-01',
          '2026-11-21T00:00:00Z',
          ' 2026-11-21',
          '2026-11-21\n',
          20261121,
        ]
      case 'timestamp':
        return [
          '',
          '2026-02-30T10:00:00Z',
          '2026-02-29T10:00:00+01:00',
          '2026-13-01T00:00:00Z',
          '2026-11-21T25:00:00Z',
          '2026-11-21T03:60:00Z',
          '2026-11-21T03:04:61Z',
          '2026-11-21T03:04:05',
          '2026-11-21 03:04:05Z',
          '2026-11-21',
          '2026-11-21T03:04:05+99:99',
          0,
        ]
      case 'texts':
        return [
          {},
          'x',
          '',
          0,
          false,
          true,
          'null',
          [null],
          [1],
          [true],
          [[]],
          [['a']],
          ['a', { b: 1 }],
          { 0: 'a', length: 1 },
          Array.from({ length: max! / 3 + 1 }, () => ''),
          ['x'.repeat(501)],
          ...unsound.map((text) => ['fine', text]),
        ]
    }
  }

  const columns = Object.entries(tables).flatMap(([table, declared]) =>
    Object.entries<Column>(declared.columns).map(([name, column]) => [table as TableName, name, column] as const),
  )

  /** The required columns of a table, filled in. */
  const filled = (table: TableName): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries<Column>(tables[table].columns)
        .filter(([, { required }]) => required)
        .map(([name, column]) => [name, good(column)[0]]),
    )

  test.each(columns)('%s.%s come back as they were sent', async (table, name, column) => {
    const account = await server.account()
    const mayBeNull = !column.required && column.default === undefined
    const values = [...good(column), ...(mayBeNull ? [null] : [])]
    const { results } = await account.push(...values.map((value) => insert({ ...filled(table), [name]: value }, table)))
    expect(results.map(({ ok, error }) => [ok, error])).toEqual(values.map(() => [true, undefined]))
    const { data } = await account.everything()
    expect(data[table]!.map((row) => row[name])).toEqual(values)
    expect((await account.delta(0)).changes.map((change) => change.data)).toEqual(data[table])
    const shown = ['id', 'version', 'created_at', 'updated_at', ...Object.keys(tables[table].columns)].sort()
    expect(data[table]!.map((row) => Object.keys(row).sort())).toEqual(values.map(() => shown))
  })

  test.each(columns)(
    '%s.%s are refused when they are not what is declared, in a new row and in a change',
    async (table, name, column) => {
      const account = await server.account()
      const [row] = (await account.push(insert(filled(table), table))).results
      const values = [...bad(column), ...(column.required || column.default !== undefined ? [null] : [])]
      const asNew = await account.push(...values.map((value) => insert({ ...filled(table), [name]: value }, table)))
      const asChange = await account.push(
        ...values.map((value) => ({ table, operation: 'UPDATE', data: { id: row!.id, [name]: value } })),
      )
      for (const { results, cursor } of [asNew, asChange]) {
        expect(results.map(({ ok, code }, index) => [values[index], ok, code])).toEqual(
          values.map((value) => [value, false, 'bad_value']),
        )
        expect(results.filter(({ error }) => !error!.startsWith(`${name} `) && !error!.startsWith(`${name}/`))).toEqual(
          [],
        )
        expect(cursor).toBe(1)
      }
      expect((await account.everything()).data[table]).toMatchObject([{ version: 1 }])
    },
  )

  test.each(columns.filter(([, , { required }]) => required))(
    '%s.%s must be there in a new row, and need not in a change',
    async (table, name) => {
      const account = await server.account()
      const { [name]: _left, ...rest } = filled(table)
      const { results } = await account.push(insert(rest, table), insert(filled(table), table))
      expect(results).toMatchObject([
        { code: 'bad_value', error: expect.stringMatching(new RegExp(`^${name} `)) as string },
        { ok: true },
      ])
      const change = await account.push({ table, operation: 'UPDATE', data: { id: results[1]!.id, ...rest } })
      expect(change.results).toMatchObject([{ ok: true }])
    },
  )
})
