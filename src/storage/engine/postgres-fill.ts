import { sql, type RawBuilder } from 'kysely'
import type { Database, Reader, Writer } from './database.ts'
import { tablesOf, type Table } from './postgres-copy.ts'

// Copies a SQLite file with the same tables into a Postgres database, in one transaction.

/** Rows per statement; those of `contents` have up to 64 KiB each. */
const PAGE = 100

/** The target database is not empty. */
class NotEmpty extends Error {
  override name = 'NotEmpty'
  readonly exitCode = 6
}

interface Reference {
  tbl: string
  name: string
  definition: string
}

/** Drops foreign keys, so that rows can be inserted in any order, and creates them again, which checks all rows. */
async function withoutReferences(tx: Writer, fill: () => Promise<void>): Promise<void> {
  const { rows } = await sql<Reference>`select conrelid::regclass::text as tbl, conname as name,
      pg_get_constraintdef(oid) as definition
    from pg_constraint where contype = 'f' and connamespace = current_schema()::regnamespace`.execute(tx.q)
  for (const { tbl, name } of rows)
    await sql`alter table ${sql.raw(tbl)} drop constraint ${sql.ref(name)}`.execute(tx.q)
  await fill()
  for (const { tbl, name, definition } of rows)
    await sql`alter table ${sql.raw(tbl)} add constraint ${sql.ref(name)} ${sql.raw(definition)}`.execute(tx.q)
}

const quoted = (name: string): RawBuilder<unknown> => sql.ref(name)

async function fillTable(tx: Writer, from: Reader, { name, columns, key }: Table): Promise<void> {
  const listed = sql.join(columns.map((column) => quoted(column.name)))
  const order = sql.join(key.map(quoted))
  let last: unknown[] | undefined
  for (;;) {
    const after: RawBuilder<unknown> = last ? sql`where (${order}) > (${sql.join(last)})` : sql``
    const { rows } = await sql<Record<string, unknown>>`select ${listed} from ${sql.table(name)} ${after}
      order by ${order} limit ${PAGE}`.execute(from.q)
    if (rows.length > 0) {
      const values = rows.map((row) => sql`(${sql.join(columns.map((column) => row[column.name]))})`)
      await sql`insert into ${sql.table(name)} (${listed}) values ${sql.join(values)}`.execute(tx.q)
      last = key.map((column) => rows.at(-1)![column])
    }
    if (rows.length < PAGE) return
  }
}

/** Sets the sequences to the values of the source. */
async function fillCounters(tx: Writer, from: Reader, tables: readonly Table[]): Promise<void> {
  const { rows } = await sql<{ name: string; seq: number }>`select name, seq from sqlite_sequence`.execute(from.q)
  for (const { name, seq } of rows)
    if (seq > 0 && tables.some((table) => table.name === name))
      await sql`select setval(pg_get_serial_sequence(${`"${name}"`}, 'id'), cast(${seq} as bigint))`.execute(tx.q)
}

/** Throws if columns differ: data would be lost or missing. */
async function assertSameColumns(from: Reader, tables: readonly Table[]): Promise<void> {
  const namesOf = (names: readonly { name: string }[]) =>
    names
      .map(({ name }) => name)
      .sort()
      .join(', ')
  const there = new Map((await from.q.introspection.getTables()).map((table) => [table.name, namesOf(table.columns)]))
  for (const { name, columns } of tables) {
    const own = namesOf(columns)
    if (there.get(name) !== own)
      throw new Error(`The table ${name} has the columns ${there.get(name) ?? '(none)'} there, and ${own} here.`)
  }
}

async function notEmptyError(tx: Reader, from: Reader): Promise<NotEmpty> {
  const owner = (at: Reader) =>
    at.q.selectFrom('instance').select('value').where('key', '=', 'server_id').executeTakeFirst()
  const isOwn = (await owner(tx))?.value === (await owner(from))?.value
  return new NotEmpty(
    isOwn
      ? 'That database already has rows of this installation, from an earlier move or one that was interrupted: drop it, create it again (dropdb, createdb), and repeat the move.'
      : 'That database has accounts already: give an empty one (createdb).',
  )
}

/**
 * Copies every row of `from`, a SQLite database that nothing writes to. Both must have the current schema. Throws
 * `NotEmpty` if there are accounts; nothing is changed on failure.
 */
export async function fillPostgres(database: Database, from: Reader) {
  await database.write('instance', async (tx) => {
    const somebody = await tx.q.selectFrom('users').select('id').limit(1).executeTakeFirst()
    if (somebody) throw await notEmptyError(tx, from)
    const tables = await tablesOf(tx)
    await assertSameColumns(from, tables)
    await withoutReferences(tx, async () => {
      // Rows are copied as they are: triggers would count and queue them once more.
      for (const { name } of tables) await sql`alter table ${sql.table(name)} disable trigger user`.execute(tx.q)
      for (const { name } of tables) await sql`delete from ${sql.table(name)}`.execute(tx.q)
      for (const table of tables) await fillTable(tx, from, table)
      for (const { name } of tables) await sql`alter table ${sql.table(name)} enable trigger user`.execute(tx.q)
      await fillCounters(tx, from, tables)
    })
  })
  await database.refreshStatistics()
}
