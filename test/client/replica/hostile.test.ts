import { closeSync, existsSync, openSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Api } from '../../../src/client/api.ts'
import { openReplica } from '../../../src/client/replica/replica.ts'
import { fault } from '../../../src/contract/errors.ts'
import { edit, makeDevice, note, removal, type Device } from './bench.ts'

// Servers that say what no sound server says, files that are damaged, and processes that end in between.

type Json = Record<string, unknown>

/** A server in memory whose answers are given by action; what is not given is an error. */
function fake(answers: Record<string, (params: Json) => unknown>): Device {
  const call = async (action: { name: string }, params: Json) => {
    const answer = answers[action.name]
    if (!answer) throw new Error(`Nobody expected ${action.name}.`)
    return answer(params)
  }
  return makeDevice({
    api: { call: call as Api['call'], url: 'http://127.0.0.1:1' },
    owner: { server_id: 's', user_id: 7 },
  })
}

const named = { ok: true, epoch: 'e', server_id: 's' }
const all = (rows: unknown, cursor: unknown = 10) => ({
  ...named,
  data: { svc_notes: rows },
  cursor,
  schema_version: 1,
})
const row = (id: number, more: Json = {}) => ({ id, version: 1, title: `note ${id}`, content: null, ...more })
const page = (changes: unknown, cursor: unknown = 11, has_more: unknown = false) => ({
  ...named,
  changes,
  cursor,
  has_more,
  count: 1,
})
const change = (data: unknown, more: Json = {}) => ({
  table: 'svc_notes',
  operation: 'UPDATE',
  data,
  cursor: 11,
  ...more,
})

describe('a page that no sound server sends changes nothing', () => {
  test.each<[string, unknown]>([
    ['no list', page('none')],
    ['no row', page([change(null)])],
    ['a row without an id', page([change({ title: 'x' })])],
    ['an id below 1', page([change(row(-1))])],
    ['an id that is no whole number', page([change(row(1.5))])],
    ['a version that is none', page([change(row(1, { version: 'new' }))])],
    ['no such operation', page([change(row(1), { operation: 'DROP' })])],
    ['a change before the page', page([change(row(1), { cursor: 10 })])],
    ['a change behind the page', page([change(row(1), { cursor: 12 })])],
    ['a change without a place', page([change(row(1), { cursor: undefined })])],
    ['a cursor that goes back', page([], 9)],
    ['more of the same', page([], 10, true)],
    ['nothing at all', null],
    ['a text', 'hello'],
    ['no name of the server', { ...page([]), server_id: 7 }],
  ])('%s', async (_, answer) => {
    const device = fake({ initial_sync: () => all([row(1)]), delta: () => answer })
    await device.exchange()
    await expect(device.exchange()).rejects.toMatchObject({ name: 'UnsoundRows', exitCode: 7 })
    expect(device.copy.rows('svc_notes')).toEqual([row(1)])
    expect(device.copy.place()).toMatchObject({ cursor: 10 })
  })

  test('a table that is not known is left out, and names that mean something to JavaScript are only names', async () => {
    const hostile = JSON.parse('{"id": 2, "version": 1, "__proto__": {"title": "p"}, "constructor": 1}') as object
    const device = fake({
      initial_sync: () => all([row(1)]),
      delta: ({ cursor }) =>
        cursor === 10 ? page([change(hostile), change(row(9), { table: 'sqlite_master' })]) : page([]),
    })
    await device.exchange()
    await device.exchange()
    expect(device.copy.rows('svc_notes')).toHaveLength(2)
    expect(device.copy.rows('sqlite_master')).toEqual([])
    expect(({} as Json)['title']).toBeUndefined()
  })

  test.each([[all('rows')], [all([row(1), row(1)])], [all([{}])], [all([row(1)], -1)], [{ ...named, cursor: 1 }]])(
    'neither does such a first answer: %j',
    async (answer) => {
      const device = fake({ initial_sync: () => answer })
      await expect(device.exchange()).rejects.toMatchObject({ name: 'UnsoundRows' })
      expect(device.copy.place()).toBeUndefined()
    },
  )

  test('another server is refused, and a feed without end is given up', async () => {
    const other = fake({ initial_sync: () => ({ ...all([]), server_id: 'another' }) })
    await expect(other.exchange()).rejects.toMatchObject({ name: 'Refused', reason: 'other_account', exitCode: 8 })
  })
})

const applied = (index: number, more: Json = {}) => ({
  index,
  ok: true,
  status: 'applied',
  id: index + 1,
  version: 1,
  ...more,
})

describe('results that do not belong to what was sent settle nothing', () => {
  test.each<[string, unknown]>([
    ['none', undefined],
    ['a text', 'fine'],
    ['too few', [applied(0)]],
    ['too many', [applied(0), applied(1), applied(2)]],
    ['in another order', [applied(1), applied(0)]],
    ['of another operation', [applied(0, { op_id: '00000000-0000-4000-8000-000000000000' }), applied(1)]],
    ['a new row without an id', [applied(0, { id: null }), applied(1)]],
    ['a new row with an id of ours', [applied(0, { id: -1 }), applied(1)]],
    ['done and not done', [applied(0, { ok: false }), applied(1)]],
    ['no such status', [applied(0, { status: 'perhaps' }), applied(1)]],
    ['a conflict without the row', [{ index: 0, ok: false, status: 'conflict' }, applied(1)]],
  ])('%s', async (_, results) => {
    const device = fake({
      initial_sync: () => all([]),
      push: () => ({ ok: true, results, cursor: 1, contiguous: true }),
    })
    device.change(note('a'), note('b'))
    await expect(device.exchange()).rejects.toMatchObject({ name: 'UnsoundRows' })
    expect(device.copy.waiting()).toMatchObject([
      { row: -1, sent: true },
      { row: -2, sent: true },
    ])
    expect(device.copy.rejected()).toEqual([])
  })

  test('a server that finds a conflict each time is not asked for ever', async () => {
    let version = 1
    const device = fake({
      initial_sync: () => all([row(1)]),
      delta: () => page([], 10),
      push: () => {
        const current = row(1, { version: (version += 1), title: `changed ${version}` })
        return { ok: true, results: [{ index: 0, ok: false, status: 'conflict', id: 1, version, current }], cursor: 1 }
      },
    })
    await device.exchange()
    device.change(edit(1, { content: 'mine' }))
    await device.exchange()
    expect(version).toBeLessThan(10)
    expect(device.copy.waiting()).toMatchObject([{ values: { content: 'mine' } }])
  })
})

test('a page that is older than what is known brings no deleted row back', async () => {
  const device = fake({ initial_sync: () => all([row(1), row(2)]) })
  await device.exchange()
  const deleted = { table: 'svc_notes', row: { id: 1 }, deleted: true, cursor: 12 }
  const old = { table: 'svc_notes', row: row(1, { version: 2 }), deleted: false, cursor: 11 }
  const rest = { epoch: 'e', server_id: 's', more: false }
  device.copy.learn({ ...rest, changes: [deleted], cursor: 12 }, 10)
  device.copy.learn({ ...rest, changes: [old], cursor: 11 }, 10)
  expect(device.copy.rows('svc_notes').map(({ id }) => id)).toEqual([2])
  expect(device.copy.place()).toMatchObject({ cursor: 12 })
  // Nor is a page taken in that leaves a gap.
  device.copy.learn({ ...rest, changes: [{ ...old, cursor: 20 }], cursor: 20 }, 15)
  expect(device.copy.place()).toMatchObject({ cursor: 12 })
})

test('with a cursor that has expired everything is asked for anew, and what waits stays', async () => {
  let times = 0
  const device = fake({
    initial_sync: () => all((times += 1) === 1 ? [row(1), row(2)] : [row(2, { version: 3 })], 10 * times),
    delta: () => {
      throw fault('cursor_expired')
    },
    push: () => {
      throw fault('maintenance')
    },
  })
  await device.exchange()
  device.change(note('mine'), edit(2, { content: 'mine' }))
  await expect(device.exchange()).rejects.toMatchObject({ code: 'maintenance' })
  const { pull } = await import('../../../src/client/replica/exchange.ts')
  expect(await pull(device.line, device.copy)).toMatchObject({ restored: false })
  expect(device.copy.rows('svc_notes')).toMatchObject([
    { id: 2, version: 3, content: 'mine' },
    { id: -1, title: 'mine' },
  ])
  expect(device.copy.waiting()).toMatchObject([{ verb: 'INSERT' }, { verb: 'UPDATE', base_version: 1 }])
})

test('a server that was put back gets the rows it lost, and newer values are shown as conflicts', async () => {
  let restored = false
  const device = fake({
    initial_sync: () =>
      restored
        ? { ...all([row(1), row(3, { title: 'old' })], 4), epoch: 'later' }
        : all([row(1), row(2), row(3, { version: 5, title: 'new' })]),
    delta: () => {
      throw fault('epoch_mismatch')
    },
  })
  await device.exchange()
  restored = true
  const { pull } = await import('../../../src/client/replica/exchange.ts')
  expect(await pull(device.line, device.copy)).toMatchObject({ restored: true })
  const [lost] = device.copy.waiting()
  expect(device.copy.waiting()).toMatchObject([{ verb: 'INSERT', values: { title: 'note 2' }, fixed: true }])
  expect(device.copy.rejected()).toMatchObject([
    { code: 'server_restored', row: 3, mine: { title: 'new' }, theirs: { title: 'old' } },
  ])
  // Another device makes the same operation of it, and the server carries it out once.
  const other = makeDevice({ api: device.line.api, owner: { server_id: 's', user_id: 7 } })
  restored = false
  await other.exchange()
  restored = true
  await pull(other.line, other.copy)
  expect(other.copy.waiting()[0]!.op_id).toBe(lost!.op_id)
})

describe('a file that is damaged', () => {
  const clock = { now: () => 0 }
  const owner = { server_id: 's', user_id: 7 }

  test('gives up its rows and keeps what waits, as far as it can be read', async () => {
    const device = fake({ initial_sync: () => all(Array.from({ length: 3_000 }, (_, at) => row(at + 1))) })
    await device.exchange()
    device.change(note('a'), note('b'), edit(5, { content: 'mine' }))
    device.copy.close()
    // Somewhere in the rows, far from the queue.
    const { size } = statSync(device.file)
    const file = openSync(device.file, 'r+')
    writeSync(file, Buffer.alloc(3 * 4_096, 0xff), 0, 3 * 4_096, Math.floor(size / 2 / 4_096) * 4_096)
    closeSync(file)
    const { copy, damaged } = openReplica(device.file, owner, clock)
    onTestFinished(() => copy.close())
    expect(damaged).toEqual({ file: `${device.file}.damaged`, kept: 3 })
    expect(existsSync(damaged!.file)).toBe(true)
    expect(copy.place()).toBeUndefined()
    expect(copy.waiting()).toMatchObject([{ row: -1 }, { row: -2 }, { row: 5, values: { content: 'mine' } }])
    expect(copy.change([note('c')], true)[0]!.row).toBe(-3)
    device.reopen()
  })

  test('and is none at all is begun anew', () => {
    const device = fake({})
    device.copy.close()
    writeFileSync(device.file, 'no database, but long enough to look like something that was one once')
    const { copy, damaged } = openReplica(device.file, owner, clock)
    expect(damaged?.kept).toBe(0)
    expect(copy.waiting()).toEqual([])
    copy.close()
    device.reopen()
  })
})

test('several that change rows at the same time lose nothing, and give no id twice', async () => {
  const device = fake({ initial_sync: () => all([]) })
  await device.exchange()
  const handles = Array.from(
    { length: 4 },
    () => openReplica(device.file, { server_id: 's', user_id: 7 }, { now: () => 0 }).copy,
  )
  const made = await Promise.all(
    handles.flatMap((copy, by) =>
      Array.from({ length: 25 }, async (_, at) => copy.change([note(`${by} ${at}`)], true)[0]!.row),
    ),
  )
  for (const copy of handles) copy.close()
  expect(new Set(made).size).toBe(100)
  expect(device.copy.count().waiting).toBe(100)
})

test('a row that never left this machine leaves nothing behind when it is deleted', () => {
  const device = fake({})
  device.change(note('a'))
  device.change(edit(-1, { content: 'x' }), removal(-1))
  expect(device.copy.waiting()).toEqual([])
  expect(() => device.change(removal(-1))).toThrow('There is no row -1')
})
