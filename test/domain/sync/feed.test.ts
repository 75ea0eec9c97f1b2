import { onTestFinished, expect, test } from 'vitest'
import { join } from 'node:path'
import { isFault } from '../../../src/contract/errors.ts'
import { makeSync, shapes } from '../../../src/domain/sync/sync.ts'
import { insertAccount } from '../../../src/storage/accounts/accounts.ts'
import type { Database, Reader } from '../../../src/storage/engine/database.ts'
import { compact } from '../../../src/storage/feed/changes.ts'
import { migrate } from '../../../src/storage/engine/migrations/migrate.ts'
import { ensureTables } from '../../../src/storage/engine/synchronised-tables.ts'
import { openSqlite } from '../../../src/storage/engine/sqlite.ts'
import { makeClock } from '../../support/clock.ts'
import { folderOfTest } from '../../support/server.ts'

const never = () => new AbortController().signal

/** An account whose feed one process reads while another writes between any two of its questions. */
async function world() {
  const file = join(await folderOfTest(), 'svc.db')
  const opened = [openSqlite(file), openSqlite(file)] as const
  onTestFinished(async () => {
    for (const database of opened) await database.close()
  })
  const [mine, theirs] = opened
  await migrate(mine)
  await ensureTables(mine, shapes)
  const clock = makeClock()
  const account = {
    username: 'ada',
    display_name: 'Ada',
    avatar_color: '#000000',
    role: 'user',
    password_hash: '-',
    quota_bytes: null,
  } as const
  const user = (await mine.write('instance', (tx) => insertAccount(tx, account, clock.now())))!

  let before: (question: number) => Promise<void> = () => Promise.resolve()
  let questions = 0
  const watched = (reader: Reader): Reader => ({
    engine: reader.engine,
    q: reader.q,
    async run(query) {
      await before(++questions)
      return reader.run(query)
    },
  })
  const reading: Database = {
    ...mine,
    read: watched(mine.read),
    snapshot: (unit) => mine.snapshot((at) => unit(watched(at))),
  }
  const reader = makeSync({ database: reading, clock, epoch: () => 'e' })
  const writer = makeSync({ database: theirs, clock, epoch: () => 'e' })
  return {
    user,
    writer,
    /** Forgets every deletion, as upkeep does once they are old. */
    forget: () => theirs.write('instance', (tx) => compact(tx, clock.now() + 1)),
    /** A page, while `change` happens before its nth question. */
    async page(cursor: number, limit: number, nth: number, change: () => Promise<unknown>) {
      questions = 0
      before = async (question) => void (question === nth && (await change()))
      const page = await reader.changesSince(user, { cursor, limit }, never)
      before = () => Promise.resolve()
      return { ...page, questions }
    },
  }
}

const insert = (table: string, title: string) => ({ table, operation: 'INSERT', data: { title } })

/** What a client holds that takes the changes of pages over. */
function client() {
  const rows = new Map<string, unknown>()
  let last = 0
  return {
    rows,
    take(
      changes: { table: string; operation: string; data: { id: number; [column: string]: unknown }; cursor: number }[],
    ) {
      const surprises: string[] = []
      for (const { table, operation, data, cursor } of changes) {
        expect(cursor).toBeGreaterThan(last)
        last = cursor
        const key = `${table} ${data.id}`
        if (operation !== 'DELETE' && operation !== (rows.has(key) ? 'UPDATE' : 'INSERT'))
          surprises.push(`${operation} ${key}`)
        if (operation === 'DELETE') rows.delete(key)
        else rows.set(key, data['title'])
      }
      return surprises
    },
  }
}

/** Four rows, and a change that moves two of them, removes one and adds another. */
async function prepared() {
  const made = await world()
  const { results } = await made.writer.push(made.user, {
    operations: [insert('svc_notes', 'a'), insert('svc_tasks', 'b'), insert('svc_notes', 'c'), insert('svc_docs', 'd')],
  })
  const [a, b, , d] = results.map(({ id }) => id!)
  const change = () =>
    made.writer.push(made.user, {
      operations: [
        { table: 'svc_notes', operation: 'UPDATE', data: { id: a, title: 'A' } },
        { table: 'svc_tasks', operation: 'DELETE', data: { id: b } },
        { table: 'svc_docs', operation: 'UPDATE', data: { id: d, title: 'D' } },
        insert('svc_notes', 'e'),
      ],
    })
  return { ...made, change }
}

/** A page of the four rows asks this many questions; writing before each of them covers every moment. */
const QUESTIONS = [1, 2, 3, 4, 5, 6]

test('asks as many questions as the tests below write between', async () => {
  const { page } = await prepared()
  expect((await page(0, 100, -1, () => Promise.resolve())).questions).toBe(QUESTIONS.length)
})

test.each(QUESTIONS)('a page is of one moment, whatever is written before question %i', async (nth) => {
  const { page, change } = await prepared()
  const { take, rows } = client()
  const first = await page(0, 100, nth, change)
  expect(take(first.changes)).toEqual([])
  expect([first.has_more, first.count]).toEqual([false, first.changes.length])
  const second = await page(first.cursor, 100, -1, change)
  expect(take(second.changes)).toEqual([])
  expect([...rows.values()].sort()).toEqual(['A', 'D', 'c', 'e'])
  expect(second.cursor).toBe(8)
})

// A page of three ends before the last table.
test.each(QUESTIONS.slice(0, -1))(
  'pages lead to the same rows, whatever is written before question %i of the first',
  async (nth) => {
    const { page, change } = await prepared()
    const { take, rows } = client()
    let cursor = 0
    for (let round = 0, more = true; more; round += 1) {
      const got = await page(cursor, 3, round === 0 ? nth : -1, change)
      take(got.changes)
      expect([got.count, got.changes.length <= 3]).toEqual([got.changes.length, true])
      cursor = got.cursor
      more = got.has_more || cursor < 8
      expect(round).toBeLessThan(5)
    }
    expect([...rows.values()].sort()).toEqual(['A', 'D', 'c', 'e'])
  },
)

test.each(QUESTIONS)('a deletion that is forgotten before question %i is told, or the cursor expires', async (nth) => {
  const { page, change, forget } = await prepared()
  const { take, rows } = client()
  const before = await page(0, 100, -1, change)
  take(before.changes)
  await change()
  const after = await page(before.cursor, 100, nth, forget).catch((error: unknown) => error)
  if (isFault(after, 'cursor_expired')) return
  take((after as typeof before).changes)
  expect([...rows.values()].sort()).toEqual(['A', 'D', 'c', 'e'])
})
