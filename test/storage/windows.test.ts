import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { DAY } from '../../src/base/clock.ts'
import { makeCollector } from '../../src/storage/contents/collector.ts'
import { hasLostFiles } from '../../src/storage/contents/lost-files.ts'
import { forgetGone } from '../../src/storage/contents/released-contents.ts'
import { excessAudit, forgetAuditUpTo } from '../../src/storage/instance/audit.ts'
import type { Database, Reader } from '../../src/storage/engine/database.ts'
import { inSlices } from '../../src/storage/engine/slices.ts'
import { compactUpTo, excessTombstones } from '../../src/storage/feed/changes.ts'
import { excessPushes } from '../../src/storage/feed/pushes.ts'
import { rootOf } from '../../src/storage/files/nodes.ts'
import { openStoreOnDisk } from '../support/blob-stores.ts'
import { folderOfTest } from '../support/server.ts'
import { addUser, databaseOfTest, plansOf } from '../support/storage.ts'

// Statements about very many rows are divided, and their parts together find what one statement would.

/** Inserts a row for each number from 1 to `count`; `values` are SQL. */
const insertMany = (database: Database, count: number, into: string, values: string) =>
  database.write('instance', (tx) =>
    sql
      .raw(
        `insert into ${into} with recursive n (n) as (select 1 union all select n + 1 from n where n < ${count})
          select ${values} from n`,
      )
      .execute(tx.q),
  )

/** What `work` finds, and the statements that it needs. */
async function counting<T>({ read }: Database, work: (on: Reader) => Promise<T>) {
  let statements = 0
  const q = read.q.withPlugin({
    transformQuery: ({ node }) => ((statements += 1), node),
    transformResult: ({ result }) => Promise.resolve(result),
  })
  const found = await work({
    engine: read.engine,
    q,
    run(query) {
      statements += 1
      return read.run(query)
    },
  })
  return { found, statements }
}

const hash = `printf('%064x', n)`

test('excess tombstones are found in windows', async () => {
  const { database, user } = await databaseOfTest()
  await insertMany(
    database,
    12_000,
    'changes (user_id, tbl, row_id, seq, born, deleted, changed_at)',
    `${user}, 'svc_notes', n, n, n, n % 2, 1`,
  )
  await database.write('instance', (tx) => sql`update counters set seq = 12000 where user_id = ${user}`.execute(tx.q))
  // Odd positions are deletions: the newest 4,000 of them are after 4,000.
  const { found, statements } = await counting(database, (on) => excessTombstones(on, 4_000))
  expect(found).toEqual([{ user, upTo: 3_999 }])
  // The accounts, two windows, and the position.
  expect(statements).toBe(4)
  expect((await counting(database, (on) => excessTombstones(on, 6_000))).found).toEqual([])
  expect(await inSlices(database, (tx, limit) => compactUpTo(tx, { user, upTo: 3_999 }, limit))).toBe(2_000)
  expect((await counting(database, (on) => excessTombstones(on, 4_000))).found).toEqual([])
})

test('excess responses to pushes are found in windows, to the millisecond', async () => {
  const { database, user } = await databaseOfTest()
  const other = await addUser(database, 'bob')
  // In no order of time, two a millisecond, over more than an hour.
  const at = '1000000 + (n * 7919) % 6007 * 1000'
  const operations = 'pushed_operations (user_id, op_id, payload_hash, result, created_at)'
  await insertMany(database, 12_014, operations, `${user}, ${hash}, 'hash', 'result', ${at}`)
  await insertMany(database, 6_007, operations, `${other}, ${hash}, 'hash', 'result', ${at}`)
  const keys = 'idempotency_keys (user_id, key, payload_hash, answer, created_at)'
  await insertMany(database, 6_007, keys, `${user}, ${hash}, 'hash', 'result', ${at}`)
  const { rows } = await sql<{ bytes: number }>`select bytes from data_usage
    where user_id = ${user} and kind = 'pushes'`.execute(database.read.q)
  const each = rows[0]!.bytes / 18_021
  // Three rows of each millisecond are kept of the newest thousand, and one row's bytes are left over.
  const { found, statements } = await counting(database, (on) => excessPushes(on, each * 3_001))
  expect(found).toEqual([
    { user, upTo: 1_000_000 + (6_007 - 1_001) * 1_000 },
    { user: other, upTo: 1_000_000 + (6_007 - 3_002) * 1_000 },
  ])
  // The accounts; then, by minute and by millisecond, seven windows of one and four of the other, with their ends.
  expect(statements).toBe(23)
  expect((await counting(database, (on) => excessPushes(on, each * 18_021))).found).toEqual([])
})

test('excess entries of the audit log are found along an index, actor by actor', async () => {
  const { database, user } = await databaseOfTest()
  const audit = 'audit (at, kind, actor_id, actor)'
  await insertMany(database, 3_000, audit, `n, 'test', ${user}, 'ada'`)
  await insertMany(database, 2_000, audit, `n, 'test', null, 'anonymous'`)
  await insertMany(database, 2_000, audit, `n, 'test', null, 'root'`)
  await insertMany(database, 10, audit, `n, 'test', ${await addUser(database, 'bob')}, 'bob'`)
  const excessive = async () => (await excessAudit(database.read, 1_500)).map(({ actor, at }) => ({ actor, at }))
  expect(await excessive()).toEqual([
    { actor: 'ada', at: 1_500 },
    { actor: 'anonymous', at: 500 },
  ])
  const plans: string[] = []
  await plansOf(database, async (on) => {
    const run: Reader['run'] = async (query) => {
      const { rows } = await sql<{ detail: string }>`explain query plan ${sql.raw(
        query.sql.replace(/\?/g, () => "'1'"),
      )}`.execute(database.read.q)
      plans.push(rows.map(({ detail }) => detail).join('; '))
      return on.run(query)
    }
    await excessAudit({ ...on, run }, 1_500)
  })
  expect(new Set(plans.map((plan) => plan.replace(/ \(.*/, '')))).toEqual(
    new Set(['SEARCH audit USING COVERING INDEX audit_by_name', 'SEARCH audit USING INDEX audit_by_name']),
  )
  for (const excess of await excessAudit(database.read, 1_500))
    await inSlices(database, (tx, limit) => forgetAuditUpTo(tx, excess, limit))
  expect(await excessive()).toEqual([])
  const { rows } = await sql<{ actor: string; oldest: number }>`select actor, min(at) as oldest from audit
    group by actor order by actor`.execute(database.read.q)
  expect(rows).toEqual([
    { actor: 'ada', oldest: 1_501 },
    { actor: 'anonymous', oldest: 501 },
    { actor: 'bob', oldest: 1 },
    { actor: 'root', oldest: 1 },
  ])
})

test('records of removed contents are forgotten in windows, those of present ones stay', async () => {
  const { database, user } = await databaseOfTest()
  const other = await addUser(database, 'bob')
  for (const each of [user, other])
    await insertMany(database, 2_500, 'released_contents (user_id, sha256, size)', `${each}, ${hash}, 1`)
  await insertMany(database, 2_500, 'contents (sha256, size, touched_at)', `printf('%064x', n * 5), 1, 1`)
  expect(await forgetGone(database)).toBe(4_000)
  const left = await database.read.q.selectFrom('released_contents').select('sha256').execute()
  expect(left.length).toBe(1_000)
  expect(left.every(({ sha256 }) => Number.parseInt(sha256, 16) % 5 === 0)).toBe(true)
  expect(await forgetGone(database)).toBe(0)
})

/** A database with files of an account as its feed has them, each with its own content of one byte, and other contents. */
async function withFiles(files: number, others = 0) {
  const { database, user } = await databaseOfTest()
  await insertMany(database, files + others, 'contents (sha256, size, data, touched_at)', `${hash}, 1, x'00', 1`)
  const top = await rootOf(database.read, user)
  await insertMany(
    database,
    files,
    'nodes (user_id, parent_id, name, name_key, type, sha256, size, mtime, created_at, updated_at)',
    `${user}, ${top}, 'f' || n, 'f' || n, 'file', ${hash}, 1, 1, 1, 1`,
  )
  await database.write('instance', async (tx) => {
    await sql`insert into changes (user_id, tbl, row_id, seq, born, deleted, changed_at)
      select user_id, 'svc_files', id, id, id, 0, 1 from nodes where type = 'file'`.execute(tx.q)
    await sql`update counters set used_bytes = ${files} where user_id = ${user}`.execute(tx.q)
  })
  return { database, user }
}

const run = (database: Database, statement: string) =>
  database.write('instance', (tx) => sql.raw(statement).execute(tx.q))

test('a lost file is noticed, wherever it stands among thousands', async () => {
  const { database, user } = await withFiles(4_500)
  const whole = await counting(database, hasLostFiles)
  expect(whole.found).toBe(false)
  // Of both kinds three windows and the end.
  expect(whole.statements).toBeGreaterThanOrEqual(9)
  // A deleted file is not a lost one.
  await run(database, `update changes set deleted = 1 where row_id in (select id from nodes where name = 'f7')`)
  await run(database, `update counters set used_bytes = used_bytes - 1`)
  await run(database, `delete from nodes where name = 'f7'`)
  expect(await hasLostFiles(database.read)).toBe(false)
  for (const name of ['f1', 'f2100', 'f4500']) {
    await run(database, `update nodes set trash_id = 1 where name = '${name}'`)
    await run(database, `update counters set used_bytes = used_bytes - 1`)
    expect(await hasLostFiles(database.read)).toBe(true)
    await run(database, `update nodes set trash_id = null where name = '${name}'`)
    await run(database, `update counters set used_bytes = used_bytes + 1`)
  }
  // Fewer bytes than counted.
  await run(database, `update nodes set size = 0 where name = 'f4500'`)
  expect(await hasLostFiles(database.read)).toBe(true)
  await run(database, `insert into removals (user_id, begun_at) values (${user}, 1)`)
  expect(await hasLostFiles(database.read)).toBe(false)
})

test('the collector removes thousands of unreferenced contents and keeps the others, window by window', async () => {
  const { database } = await withFiles(4_500, 2_300)
  const { store } = await openStoreOnDisk(join(await folderOfTest(), 'blobs'))
  const { collect } = makeCollector(database, store)
  expect(await collect(Date.now() - DAY)).toEqual({ contents: 2_300, bytes: 2_300 })
  const left = await database.read.q.selectFrom('contents').select('sha256').execute()
  expect(left.length).toBe(4_500)
  expect(Math.max(...left.map(({ sha256 }) => Number.parseInt(sha256, 16)))).toBe(4_500)
  expect(await collect(Date.now() - DAY)).toEqual({ contents: 0, bytes: 0 })
})
