import { writeFile } from 'node:fs/promises'
import { CompiledQuery, sql } from 'kysely'
import { openCopyFile } from '../../host/sqlite-engine.ts'
import type { CopyOptions, Reader } from './database.ts'
import { appliedMigrations, makeSchema } from './migrations/migrate.ts'
import { ensureTablesIn, type TableShape } from './synchronised-tables.ts'
import { Connection } from './sqlite-connection.ts'
import { sqliteDialect } from './sqlite.ts'

// The way of a database out of Postgres: into a file of SQLite, the form in which a database stands in a backup.

/** Rows taken at once; those of `contents` hold up to 64 KiB each. */
const PAGE = 200

/** What the triggers of other tables write. */
export const COUNTS = 'data_usage'

export interface Column {
  name: string
  /** As the catalogue names it: bigint, text, double precision, bytea. */
  type: string
  required: boolean
  /** The expression of its default, as the catalogue prints it. */
  standard: string | null
}

export interface Table {
  name: string
  columns: Column[]
  /** The columns of its primary key, in order. */
  key: string[]
  bytes: number
}

/** The tables of this schema by name, the counts of triggers last: they count what is copied too. */
export async function tablesOf(at: Reader): Promise<Table[]> {
  const { rows } = await sql<{ tbl: string; bytes: number } & Column>`
    select c.relname as tbl, pg_total_relation_size(c.oid) as bytes, a.attname as name,
           format_type(a.atttypid, null) as type, a.attnotnull as required, pg_get_expr(d.adbin, d.adrelid) as standard
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
    where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'
    order by c.relname collate "C", a.attnum`.execute(at.q)
  const { rows: keys } = await sql<{ tbl: string; name: string }>`
    select c.relname as tbl, a.attname as name from pg_index i join pg_class c on c.oid = i.indrelid
    cross join lateral unnest(i.indkey) with ordinality as k (attnum, place)
    join pg_attribute a on a.attrelid = c.oid and a.attnum = k.attnum
    where i.indisprimary and c.relnamespace = current_schema()::regnamespace
    order by c.relname, k.place`.execute(at.q)
  const tables = new Map<string, Table>()
  for (const { tbl, bytes, name, type, required, standard } of rows) {
    const table = tables.get(tbl) ?? { name: tbl, columns: [], key: [], bytes }
    tables.set(tbl, table)
    table.columns.push({ name, type, required: Boolean(required), standard })
  }
  for (const { tbl, name } of keys) tables.get(tbl)?.key.push(name)
  return [...tables.values()].sort((a, b) => Number(a.name === COUNTS) - Number(b.name === COUNTS))
}

/** What a synchronised table has by itself; the rest is as it was declared. */
const COMMON = new Set(['id', 'user_id', 'version', 'created_at', 'updated_at'])
const KINDS: Record<string, string> = { bigint: 'integer', 'double precision': 'real', text: 'text' }

/** The value of a default that is a constant, as Postgres prints one: `'a text'::text`, `0`, `'-1'::integer`. */
function constant(standard: string | null, type: string): string | number | null {
  if (standard === null || /^NULL\b/i.test(standard)) return null
  const [, quoted, plain] = /^(?:'((?:[^']|'')*)'(?:::.+)?|\(?(-?[\d.]+)\)?(?:::.+)?)$/s.exec(standard) ?? []
  const text = quoted?.replaceAll("''", "'") ?? plain
  if (text === undefined) throw new Error(`${standard} is no default that svc makes.`)
  return type === 'text' ? text : Number(text)
}

const shapeOf = ({ name, columns }: Table): TableShape => ({
  name,
  columns: columns
    .filter((column) => !COMMON.has(column.name))
    .map(({ name: column, type, required, standard }) => {
      const kind = KINDS[type]
      if (!kind) throw new Error(`${name}.${column} has the type ${type}, which svc does not make.`)
      return { name: column, type: kind, required, default: constant(standard, kind) }
    }),
})

/** Makes in the copy what stands in the database: the migrations applied, and the synchronised tables as they are. */
async function makeTables(at: Reader, made: Connection, tables: readonly Table[]): Promise<void> {
  await makeSchema(made, sqliteDialect, await appliedMigrations(at))
  const known = new Set((await made.q.introspection.getTables()).map(({ name }) => name))
  await ensureTablesIn(made, sqliteDialect, tables.filter(({ name }) => !known.has(name)).map(shapeOf))
}

async function copyRows(at: Reader, made: Connection, { name, columns, key }: Table): Promise<void> {
  const listed = columns.map((column) => sql.ref(column.name))
  // Of the transaction of the snapshot, and gone with it.
  const cursor = sql.ref(`rows_of_${name}`)
  await sql`declare ${cursor} no scroll cursor for select ${sql.join(listed)} from ${sql.table(name)}
    order by ${sql.join(key.map((column) => sql.ref(column)))}`.execute(at.q)
  const places = columns.map(() => '?').join(', ')
  const insert = `insert into "${name}" (${columns.map((column) => `"${column.name}"`).join(', ')}) values (${places})`
  for (;;) {
    const { rows } = await sql<Record<string, unknown>>`fetch ${sql.lit(PAGE)} from ${cursor}`.execute(at.q)
    for (const row of rows)
      await made.run(
        CompiledQuery.raw(
          insert,
          columns.map((column) => row[column.name]),
        ),
      )
    if (rows.length < PAGE) break
  }
  await sql`close ${cursor}`.execute(at.q)
}

/** Ids that were given once are never given again, also those of rows that are gone. */
async function copyCounters(at: Reader, made: Connection, tables: readonly Table[]): Promise<void> {
  for (const { name } of tables) {
    const { rows } = await sql<{ last: number }>`select coalesce(pg_sequence_last_value(sequence), 0) as last
      from (select pg_get_serial_sequence(${`"${name}"`}, a.attname)::regclass as sequence from pg_attribute a
        where a.attrelid = ${`"${name}"`}::regclass and a.attidentity <> '') as own`.execute(at.q)
    if (!rows[0]) continue
    await made.run(CompiledQuery.raw('delete from sqlite_sequence where name = ?', [name]))
    await made.run(CompiledQuery.raw('insert into sqlite_sequence (name, seq) values (?, ?)', [name, rows[0].last]))
  }
}

/** Writes the state that `at` shows into a new file, as `Database.copyTo` says. */
export async function copyToFile(at: Reader, file: string, { without, progress }: CopyOptions): Promise<void> {
  await writeFile(file, '', { flag: 'wx', mode: 0o600 })
  const made = new Connection(openCopyFile(file))
  try {
    made.handle.pragma('journal_mode = MEMORY')
    // A folder may be younger than what lies in it: whole, every reference is as it was.
    made.handle.pragma('foreign_keys = OFF')
    made.exec('begin')
    const tables = await tablesOf(at)
    await makeTables(at, made, tables)
    const taken = tables.filter(({ name }) => !(without as readonly string[]).includes(name))
    const due = taken.reduce((sum, { bytes }) => sum + bytes, 0)
    let done = 0
    for (const table of taken) {
      if (table.name === COUNTS) await made.run(CompiledQuery.raw(`delete from ${COUNTS}`))
      await copyRows(at, made, table)
      done += table.bytes
      progress?.(done, due)
    }
    await copyCounters(at, made, tables)
    made.exec('commit')
    made.handle.pragma('journal_mode = DELETE')
  } finally {
    made.close()
  }
}
