import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { syncData } from '../../../src/contract/sync-data.ts'
import { openSqliteFile } from '../../../src/host/sqlite-file.ts'
import { flush } from '../../../src/client/replica/exchange.ts'
import { Unreachable } from '../../../src/client/errors.ts'
import { serverOfTest } from '../../support/server.ts'
import { deviceOf, edit, note, removal, rowsOf, rowsOnServer, type Device } from './bench.ts'

// Rows that are kept on this machine, and a real server.

async function devices(): Promise<[Device, Device]> {
  const server = await serverOfTest()
  const account = await server.account()
  const other = await account.another()
  return [await deviceOf(account, server.url), await deviceOf(other, server.url)]
}

const titles = ({ copy }: Device): unknown[] => copy.rows('svc_notes').map(({ title }) => title)

test('what waits is sent in its order, and the other device gets it with one request', async () => {
  const [one, other] = await devices()
  await one.exchange()
  await other.exchange()
  one.change(note('a'), note('b', { pinned: true }))
  expect(one.copy.rows('svc_notes')).toMatchObject([
    { id: -1, version: 0, title: 'a', content: null, pinned: false },
    { id: -2, version: 0, title: 'b', pinned: true },
  ])
  await one.exchange()
  expect(one.copy.count()).toEqual({ waiting: 0, conflicts: 0, refused: 0 })
  other.log.length = 0
  await other.exchange()
  expect(other.log).toEqual(['delta'])
  expect(titles(other)).toEqual(['a', 'b'])
  expect(one.copy.rows('svc_notes')).toEqual(other.copy.rows('svc_notes'))
  expect(rowsOf(one.copy)).toEqual(await rowsOnServer(one))
})

test('a row that has no id of the server yet is changed, deleted and found by the one it has', async () => {
  const [one] = await devices()
  await one.exchange()
  one.change(note('a'), note('b'))
  one.change(edit(-1, { content: 'more' }), removal(-2))
  expect(one.copy.waiting()).toMatchObject([{ verb: 'INSERT', row: -1, values: { title: 'a', content: 'more' } }])
  await one.exchange()
  expect(one.copy.row('svc_notes', -1)).toMatchObject({ version: 1, title: 'a', content: 'more' })
  one.change(edit(-1, { title: 'A' }))
  await one.exchange()
  expect(one.copy.rows('svc_notes')).toMatchObject([{ title: 'A', version: 2 }])
  expect(one.copy.row('svc_notes', -1)).toEqual(one.copy.rows('svc_notes')[0])
  expect(() => one.change(edit(-2, { title: 'B' }))).toThrow('There is no row -2')
})

test('different columns of a row are brought together, the same one is a conflict that keeps both', async () => {
  const [one, other] = await devices()
  one.change(note('plan', { content: 'first' }))
  await one.exchange()
  await other.exchange()
  const { id } = one.copy.rows('svc_notes')[0] as { id: number }
  one.change(edit(id, { title: 'plan of one', category: 'work' }))
  other.change(edit(id, { title: 'plan of the other', content: 'second' }))
  await one.exchange()
  await other.exchange()
  expect(other.copy.rows('svc_notes')).toMatchObject([
    { title: 'plan of one', category: 'work', content: 'second', version: 3 },
  ])
  expect(other.copy.rejected()).toMatchObject([
    {
      kind: 'conflict',
      mine: { title: 'plan of the other' },
      before: { title: 'plan' },
      theirs: { title: 'plan of one' },
    },
  ])
  await one.exchange()
  expect(one.copy.rejected()).toEqual([])
  expect(rowsOf(one.copy)).toEqual(rowsOf(other.copy))
})

test('an edit elsewhere beats a deletion here, and a row that is gone takes no edit with it', async () => {
  const [one, other] = await devices()
  one.change(note('kept'), note('gone', { content: 'text' }))
  await one.exchange()
  await other.exchange()
  const [kept, gone] = one.copy.rows('svc_notes').map(({ id }) => id as number) as [number, number]
  one.change(edit(kept, { content: 'edited' }), removal(gone))
  await one.exchange()
  other.change(removal(kept), edit(gone, { title: 'not gone' }))
  await other.exchange()
  expect(other.copy.rows('svc_notes')).toMatchObject([{ id: kept, content: 'edited' }])
  expect(other.copy.rejected()).toMatchObject([
    { kind: 'conflict', verb: 'DELETE', row: kept, theirs: { content: 'edited' } },
    { kind: 'refused', code: 'gone', row: gone, mine: { title: 'not gone' }, before: { content: 'text' } },
  ])
})

test('one that is refused for good stands in nobody’s way, and tells why', async () => {
  const [one] = await devices()
  await one.exchange()
  one.change(note('a'), note('b', { pinned: 'perhaps' }), note('c', { colour: 'red' }), note('d'))
  await one.exchange()
  expect(titles(one)).toEqual(['a', 'd'])
  expect(one.copy.rejected()).toMatchObject([
    { kind: 'refused', code: 'bad_value', row: -2, mine: { title: 'b', pinned: 'perhaps' } },
    { kind: 'refused', code: 'unknown_column', mine: { title: 'c', colour: 'red' } },
  ])
})

test('a body that is too large is divided, and what is too large on its own is refused', async () => {
  const [one] = await devices()
  await one.exchange()
  const sizes: number[] = []
  one.mischief = async (action, params, go) => {
    const { operations } = params as { operations?: { data: { content: string } }[] }
    if (action === 'push') sizes.push(operations!.length)
    return go()
  }
  one.change(...Array.from({ length: 230 }, (_, at) => note(`n ${at}`)))
  one.change(
    note('huge', { content: '\u0001'.repeat(999_999) }),
    note('beyond', { content: '\u0001'.repeat(1_500_000) }),
  )
  one.change(note('last'))
  await one.exchange()
  expect(one.copy.rows('svc_notes')).toHaveLength(232)
  expect(one.copy.rejected()).toMatchObject([{ kind: 'refused', code: 'too_large', mine: { title: 'beyond' } }])
  expect(sizes.slice(0, 2)).toEqual([100, 100])
  expect(titles(one).at(-1)).toBe('last')
})

test('an answer that got lost is asked for again, and nothing is done twice', async () => {
  const [one] = await devices()
  await one.exchange()
  one.change(note('a'))
  one.mischief = async (action, _, go) => {
    const answer = await go()
    if (action === 'push') throw new Unreachable('broke off', { outcomeUnknown: true })
    return answer
  }
  await expect(one.exchange()).rejects.toThrow('broke off')
  one.change(edit(-1, { content: 'later' }))
  expect(one.copy.waiting()).toMatchObject([{ sent: true }, { chained: true, sent: false }])
  one.reopen()
  one.mischief = undefined
  await one.exchange()
  expect(one.copy.rows('svc_notes')).toMatchObject([{ title: 'a', content: 'later', version: 2 }])
  expect(await rowsOnServer(one)).toEqual(rowsOf(one.copy))
})

test('what never arrived can still be joined with what comes after it', async () => {
  const [one] = await devices()
  await one.exchange()
  one.change(note('a'))
  one.mischief = async () => {
    throw new Unreachable('Nothing answers.')
  }
  await expect(flush(one.line, one.copy)).rejects.toThrow('Nothing answers.')
  one.change(edit(-1, { title: 'b' }))
  expect(one.copy.waiting()).toMatchObject([{ sent: false, values: { title: 'b' } }])
})

test('a client that learns a new table gets the rows that were made before', async () => {
  const [one, other] = await devices()
  one.change(note('a'))
  await one.exchange()
  await other.exchange()
  // As a version without calendars leaves it: their rows were dropped, and the cursor is behind them.
  one.change({ table: 'svc_calendars', verb: 'INSERT', values: { name: 'Work', uid: 'work' }, op_id: randomUUID() })
  await one.exchange()
  await other.exchange()
  const db = openSqliteFile(other.file)
  db.run("delete from rows where tbl = 'svc_calendars'")
  db.run('update facts set value = \'["svc_notes"]\' where name = ?', 'tables')
  db.close()
  other.reopen()
  await other.exchange()
  expect(rowsOf(other.copy)).toEqual(rowsOf(one.copy))
  other.log.length = 0
  await other.exchange()
  expect(other.log).toEqual(['delta'])
})

test('an event keeps its calendar when a client changes it that does not know calendars', async () => {
  const [one, other] = await devices()
  const values = { title: 'Standup', starts_at: '2026-11-27T09:00:00Z', calendar_uid: 'work' }
  one.change({ table: 'svc_events', verb: 'INSERT', values, op_id: randomUUID() })
  await one.exchange()
  const [{ id, version }] = one.copy.rows('svc_events') as [{ id: number; version: number }]
  await other.line.api.call(syncData.actions.push, {
    operations: [{ table: 'svc_events', operation: 'UPDATE', data: { id, title: 'Daily' }, base_version: version }],
  })
  await one.exchange()
  expect(one.copy.rows('svc_events')).toMatchObject([{ title: 'Daily', calendar_uid: 'work' }])
})
