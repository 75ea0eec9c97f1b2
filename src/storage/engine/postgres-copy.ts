import { writeFile } from 'node:fs/promises'
import { CompiledQuery, sql } from 'kysely'
import { openCopyFile } from '../../host/sqlite-engine.ts'
import type { CopyOptions, Reader } from './database.ts'
import { appliedMigrations, makeSchema } from './migrations/migrate.ts'
import { ensureTablesIn, type TableShape } from './synchronised-tables.ts'
import { MOVED } from './postgres-connection-check.ts'
import { Connection } from './sqlite-connection.ts'
import { sqliteDialect } from './sqlite.ts'

// Copies a Postgres database to a SQLite file, the format of databases in backups.

/** Rows per fetch; those of `contents` have up to 64 KiB each. */
const PAGE = 200

export interface Column {
  name: string
  /** As in the catalogue: bigint, text, double precision, bytea. */
  type: string
  required: boolean
  /** The default expression as the catalogue prints it. */
  standard: string | null
}

export interface Table {
  name: string
  columns: Column[]
  /** Columns of the primary key, in order. */
  key: string[]
  bytes: number
}

/** The tables of this schema by name, without the search index. */
export async function tablesOf(at: Reader): Promise<Table[]> {
  const { rows } = await sql<{ tbl: string; bytes: number } & Column>`
    select c.relname as tbl, pg_total_relation_size(c.oid) as bytes, a.attname as name,
           format_type(a.atttypid, null) as type, a.attnotnull as required, pg_get_expr(d.adbin, d.adrelid) as standard
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
    where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'
      and c.relname not in ('search_documents', 'search_state')
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
  return [...tables.values()]
}

/** Columns of every synchronised table; the others are as declared. */
const COMMON = new Set(['id', 'user_id', 'version', 'created_at', 'updated_at'])
const KINDS: Record<string, string> = { bigint: 'integer', 'double precision': 'real', text: 'text' }

/** The value of a constant default as Postgres prints it: `'a text'::text`, `0`, `'-1'::integer`. */
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

/** Creates the schema in the copy: the applied migrations, and the synchronised tables as they are. */
async function makeTables(at: Reader, made: Connection, tables: readonly Table[]): Promise<void> {
  await makeSchema(made, sqliteDialect, await appliedMigrations(at))
  const known = new Set((await made.q.introspection.getTables()).map(({ name }) => name))
  await ensureTablesIn(made, sqliteDialect, tables.filter(({ name }) => !known.has(name)).map(shapeOf))
}

async function copyRows(at: Reader, made: Connection, { name, columns, key }: Table): Promise<void> {
  const listed = columns.map((column) => sql.ref(column.name))
  // It ends with the transaction of the snapshot.
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

/** Copies the sequences: IDs are never reused, even those of deleted rows. */
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

/** Rows are copied as they are: triggers would count and queue them once more. */
async function withoutTriggers(made: Connection, work: () => Promise<void>): Promise<void> {
  const triggers = made.handle
    .prepare("select name, sql from sqlite_master where type = 'trigger' order by rowid")
    .all() as { name: string; sql: string }[]
  for (const { name } of triggers) made.exec(`drop trigger "${name}"`)
  await work()
  for (const trigger of triggers) made.exec(trigger.sql)
}

/** Writes the state of `at` to a new file, see `Database.copyTo`. */
export async function copyToFile(at: Reader, file: string, { without, progress }: CopyOptions): Promise<void> {
  await writeFile(file, '', { flag: 'wx', mode: 0o600 })
  const made = new Connection(openCopyFile(file))
  try {
    made.handle.pragma('journal_mode = MEMORY')
    // A folder may have a higher ID than its contents. The complete copy satisfies all references.
    made.handle.pragma('foreign_keys = OFF')
    made.exec('begin')
    const tables = await tablesOf(at)
    await makeTables(at, made, tables)
    const taken = tables.filter(({ name }) => !(without as readonly string[]).includes(name))
    const due = taken.reduce((sum, { bytes }) => sum + bytes, 0)
    let done = 0
    await withoutTriggers(made, async () => {
      for (const table of taken) {
        await copyRows(at, made, table)
        done += table.bytes
        progress?.(done, due)
      }
    })
    await copyCounters(at, made, tables)
    await made.run(CompiledQuery.raw('delete from instance where key = ?', [MOVED]))
    made.exec('commit')
    made.handle.pragma('journal_mode = DELETE')
  } finally {
    made.close()
  }
}
