import { join } from 'node:path'
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { shapes } from '../../src/domain/sync/sync.ts'
import type { Database } from '../../src/storage/engine/database.ts'
import { migrate, migrations } from '../../src/storage/engine/migrations/migrate.ts'
import { rowTable } from '../../src/storage/feed/rows.ts'
import { ensureTables, type TableShape } from '../../src/storage/engine/synchronised-tables.ts'
import { startChild } from '../support/child.ts'
import { folderOfTest } from '../support/server.ts'
import { addUser, databaseOfTest, openForTest } from '../support/storage.ts'

const empty = async () => {
  const file = join(await folderOfTest(), 'svc.db')
  return { file, database: openForTest(file) }
}

/** A statement in one line, that of a table with a line for each column. */
function inLines(statement: string): string {
  const line = statement.replace(/\s+/g, ' ')
  if (!/^create table/i.test(line)) return line
  let depth = 0
  let text = ''
  for (const sign of line) {
    if (sign === ')' && --depth === 0) text += '\n'
    text += sign
    if (sign === '(' && depth++ === 0) text += '\n '
    if (sign === ',' && depth === 1) text += '\n '
  }
  return text.replace(/ +\n/g, '\n').replace(/\n +/g, '\n  ')
}

/** The statements that made the database, by kind and name. */
async function schema({ read }: Database): Promise<string> {
  const { rows } = await sql<{ sql: string }>`
    select sql from sqlite_master where sql is not null order by type desc, name`.execute(read.q)
  return `${rows.map((row) => `${inLines(row.sql)};`).join('\n\n')}\n`
}

describe('the schema', () => {
  test('is the one that data of this version has', async () => {
    const { database } = await databaseOfTest()
    await expect(await schema(database)).toMatchFileSnapshot('schema.golden')
  })

  test('is sound: every table is strict, every key leads somewhere', async () => {
    const { database } = await databaseOfTest()
    const loose = await sql<{
      name: string
    }>`select name from pragma_table_list where type = 'table' and schema = 'main' and strict = 0 and name not like 'sqlite_%'`.execute(
      database.read.q,
    )
    expect(loose.rows).toEqual([])
    expect((await sql`pragma foreign_key_check`.execute(database.read.q)).rows).toEqual([])
    expect((await sql`pragma integrity_check`.execute(database.read.q)).rows).toEqual([{ integrity_check: 'ok' }])
  })

  test('finds what belongs to another row without reading a whole table', async () => {
    const { database } = await databaseOfTest()
    const { rows } = await sql<{ tbl: string; col: string }>`
      select m.name as tbl, f."from" as col from sqlite_master m join pragma_foreign_key_list(m.name) f
      where m.type = 'table' and not exists (
        select 1 from pragma_index_list(m.name) l join pragma_index_info(l.name) i on i.seqno = 0 where i.name = f."from"
      ) and not exists (
        select 1 from pragma_table_info(m.name) c where c.pk = 1 and c.name = f."from"
      )`.execute(database.read.q)
    // Without an index, deleting an account would read every row of such a table, once for each row it deletes elsewhere.
    expect(rows).toEqual([])
  })
})

describe('migrating', () => {
  test('applies what is missing, once, and says what', async () => {
    const { database } = await empty()
    const applied = await migrate(database)
    expect(applied[0]).toBe('0001-initial')
    const before = await schema(database)
    expect(await migrate(database)).toEqual([])
    expect(await schema(database)).toBe(before)
    await ensureTables(database, shapes)
    await ensureTables(database, shapes)
    expect(await migrate(database)).toEqual([])
  })

  test('by two connections at the same moment happens once', async () => {
    const { file, database } = await empty()
    const other = openForTest(file)
    const applied = await Promise.all([migrate(database), migrate(other)])
    expect(new Set(applied.flat()).size).toBe(applied.flat().length)
    expect(applied.flat()[0]).toBe('0001-initial')
    await Promise.all([ensureTables(database, shapes), ensureTables(other, shapes)])
    await addUser(other, 'ada')
  })

  test('is undone whole when a part of it fails', async () => {
    const { database } = await empty()
    await database.write('instance', (tx) => sql`create table messages (x integer) strict`.execute(tx.q))
    await expect(migrate(database)).rejects.toThrow('messages')
    expect(await schema(database)).toBe('CREATE TABLE messages (\n  x integer\n) strict;\n')
  })

  test('refuses what a newer version made, and leaves it alone', async () => {
    const { database } = await databaseOfTest()
    await database.write('instance', (tx) =>
      tx.q.insertInto('instance').values({ key: 'migration:9999-future', value: '2030' }).execute(),
    )
    const before = await schema(database)
    await expect(migrate(database)).rejects.toThrow(/newer version of svc \(9999-future\).*update svc/)
    expect(await schema(database)).toBe(before)
  })
})

describe('a migration', () => {
  /** What servers of the version before do not notice. */
  const ADDS = [
    /^create table /,
    // A unique one could refuse what they write.
    /^create index /,
    /^drop index /,
    /^alter table \S+ add column \S+ (integer|real|text|blob)( not null default \S+| default \S+)?( references .+)?$/,
    /^create trigger /,
  ]
  /** The last one before versions ran side by side. */
  const FIRST = '0016-room-feeds'

  test('only adds to the schema, or says that earlier versions cannot work with it', async () => {
    const { database } = await empty()
    const dialect = database.dialect
    const compiled = ({ statements }: (typeof migrations)[number]) =>
      statements(dialect).map((statement) => statement.compile(database.read.q).sql.replaceAll(/\s+/g, ' ').trim())
    const adds = (text: string) => ADDS.some((form) => form.test(text.toLowerCase()))
    const later = migrations.filter(({ name }) => name >= FIRST)
    for (const migration of later)
      if (!migration.contracts) expect(compiled(migration).filter((text) => !adds(text))).toEqual([])
    for (const text of [
      'alter table a drop column b',
      'create unique index a on b (c)',
      'update a set b = 1',
      'alter table a add column b text not null',
    ])
      expect([text, adds(text)]).toEqual([text, false])
  })
})

describe('the synchronised tables', () => {
  const shape = (columns: TableShape['columns']): TableShape => ({ name: 'svc_things', columns })
  const name = { name: 'name', type: 'text', required: true, default: null }

  test('get the columns they lack, and rows that are there get their default', async () => {
    const { database, user } = await databaseOfTest()
    await ensureTables(database, [shape([name])])
    const before = rowTable(shape([name]))
    const [id] = await database.write('instance', (tx) => before.insert(tx, user, [{ name: 'old' }], '2026'))

    const wider = shape([
      name,
      { name: 'size', type: 'integer', required: false, default: 7 },
      { name: 'done', type: 'boolean', required: false, default: 0 },
      { name: 'weight', type: 'real', required: false, default: null },
      { name: 'note', type: 'text', required: true, default: null },
      { name: 'word', type: 'text', required: false, default: "it's" },
    ])
    await ensureTables(database, [wider])
    await ensureTables(database, [wider])
    const after = rowTable(wider)
    expect(await after.get(database.read, user, id!)).toMatchObject({
      name: 'old',
      size: 7,
      done: 0,
      weight: null,
      note: null,
      word: "it's",
    })
    const [next] = await database.write('instance', (tx) =>
      after.insert(tx, user, [{ name: 'new', note: 'x', weight: 1.5 }], '2026'),
    )
    expect(await after.get(database.read, user, next!)).toMatchObject({
      name: 'new',
      size: 7,
      done: 0,
      weight: 1.5,
      note: 'x',
      word: "it's",
    })
  })

  test('keep columns that are declared no more', async () => {
    const { database, user } = await databaseOfTest()
    const wide = shape([name, { name: 'extra', type: 'text', required: false, default: null }])
    await ensureTables(database, [wide])
    const [id] = await database.write('instance', (tx) =>
      rowTable(wide).insert(tx, user, [{ name: 'a', extra: 'kept' }], '2026'),
    )
    await ensureTables(database, [shape([name])])
    expect(await rowTable(wide).get(database.read, user, id!)).toMatchObject({ extra: 'kept' })
  })
})

test('a fresh data directory can be opened by several processes at the same moment', async () => {
  const folder = await folderOfTest()
  const children = await Promise.all(Array.from({ length: 3 }, () => startChild('open', folder)))
  const codes = await Promise.all(children.map((child) => child.end()))
  expect(codes).toEqual([0, 0, 0])
  const database = openForTest(join(folder, 'svc.db'))
  expect(await migrate(database)).toEqual([])
})
