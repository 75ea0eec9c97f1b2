import { sql, type Kysely } from 'kysely'
import { first, prepared, preparedRows, type Database, type Reader, type Words, type Writer } from './database.ts'
import type { SyncedRow, Tables } from './tables.ts'

/** A synchronised table as its declaration describes it; storage follows the declaration. */
export interface TableShape {
  name: string
  columns: readonly { name: string; type: string; required: boolean; default: string | number | null }[]
}

/** A value as it is stored: booleans are 0 or 1, json is its text. */
export type Stored = string | number | null

type AnyTables = Tables & Record<string, SyncedRow>

const sqlType = (words: Words, type: string) => {
  if (type === 'integer' || type === 'boolean') return words.integer
  return type === 'real' ? words.real : words.text
}

/** Creates the declared tables and adds the columns they lack. Nothing is ever dropped. */
export const ensureTables = (database: Database, shapes: readonly TableShape[]): Promise<void> =>
  database.write((tx) => ensureTablesIn(tx, database.words, shapes))

/** The same within a transaction: two processes may start at the same moment. */
export async function ensureTablesIn(on: Reader, words: Words, shapes: readonly TableShape[]): Promise<void> {
  const column = ({ name, type, required, default: standard }: TableShape['columns'][number]) => {
    const fallback = standard === null ? sql`` : sql` default ${sql.lit(standard)}`
    return sql`${sql.ref(name)} ${sqlType(words, type)}${required ? sql` not null` : sql``}${fallback}`
  }
  const existing = new Map((await on.q.introspection.getTables()).map((table) => [table.name, table]))
  for (const shape of shapes) {
    const table = existing.get(shape.name)
    if (!table) {
      await sql`create table ${sql.table(shape.name)} (
          id ${words.id},
          user_id ${words.integer} not null references users (id) on delete cascade,
          version ${words.integer} not null default 1,
          created_at ${words.text} not null,
          updated_at ${words.text} not null,
          ${sql.join(shape.columns.map(column))}
        ) ${words.strict}`.execute(on.q)
      await sql`create index ${sql.ref(`${shape.name}_of_user`)} on ${sql.table(shape.name)} (user_id)`.execute(on.q)
      continue
    }
    const present = new Set(table.columns.map(({ name }) => name))
    for (const missing of shape.columns.filter(({ name }) => !present.has(name))) {
      await sql`alter table ${sql.table(shape.name)} add column ${column({ ...missing, required: false })}`.execute(
        on.q,
      )
    }
  }
}

/** A row as it is read: `user_id` stays in storage. */
export type SyncedRowOf = Omit<SyncedRow, 'user_id' | 'id'> & { id: number }

/** What a row says about itself beside its columns. */
export interface RowStamps {
  version: number
  /** ISO 8601. */
  created_at: string
  updated_at: string
}

export interface RowTable {
  /** Stores new rows and returns their ids in the same order; the columns not given are null or their default. */
  insert(tx: Writer, user: number, rows: readonly Record<string, Stored>[], now: string): Promise<number[]>
  /** The same for rows that were made elsewhere and keep their versions and times. */
  adopt(
    tx: Writer,
    user: number,
    rows: readonly { values: Record<string, Stored>; stamps: RowStamps }[],
  ): Promise<number[]>
  /** Changes the given columns and raises the version. */
  update(tx: Writer, id: number, values: Record<string, Stored>, now: string): Promise<void>
  remove(tx: Writer, id: number): Promise<void>
  /** One row of the account, without `user_id`. */
  get(on: Reader, user: number, id: number): Promise<SyncedRowOf | undefined>
  /** The next rows of the account by id, without `user_id`. */
  after(on: Reader, user: number, id: number, limit: number): Promise<SyncedRowOf[]>
  /** Version of one row of the account. */
  version(on: Reader, user: number, id: number): Promise<number | undefined>
}

/** The columns every synchronised row shows beside the declared ones. */
export const commonColumns = ['id', 'version', 'created_at', 'updated_at'] as const

/** Storing new rows of one table. */
function insertion(shape: TableShape): Pick<RowTable, 'insert' | 'adopt'> {
  const any = (q: Kysely<Tables>) => q as unknown as Kysely<AnyTables>
  const keys = shape.columns.map((column) => ({ ...column, key: `c_${column.name}` }))
  const insertQuery = preparedRows<Record<string, unknown>, { id: number }>(({ q, rows }) =>
    any(q)
      .insertInto(shape.name)
      .values(
        rows.map((p) => ({
          user_id: p['user_id'],
          version: p['version'],
          created_at: p['created_at'],
          updated_at: p['updated_at'],
          ...Object.fromEntries(keys.map((column) => [column.name, p[column.key]])),
        })) as never,
      )
      .returning('id'),
  )

  const adopt: RowTable['adopt'] = async (tx, user, rows) => {
    const parameters = rows.map(({ values, stamps }) => {
      const row: Record<string, unknown> = { user_id: user, ...stamps }
      for (const column of keys) {
        const value = values[column.name]
        row[column.key] = value === undefined ? column.default : value
      }
      return row
    })
    // Ids count up in the order of the rows; in which order they are returned is up to the engine.
    return (await insertQuery(tx, parameters)).map(({ id }) => id).sort((a, b) => a - b)
  }
  return {
    adopt,
    insert(tx, user, rows, now) {
      const stamps = { version: 1, created_at: now, updated_at: now }
      return adopt(
        tx,
        user,
        rows.map((values) => ({ values, stamps })),
      )
    },
  }
}

/** The queries of one synchronised table. */
export function rowTable(shape: TableShape): RowTable {
  const name = shape.name
  const shown = [...commonColumns, ...shape.columns.map((column) => column.name)]
  const any = (q: Kysely<Tables>) => q as unknown as Kysely<AnyTables>
  const updates = new Map<string, ReturnType<typeof updateOf>>()

  const updateOf = (columns: string[]) =>
    prepared<Record<string, unknown>, never>(({ q, p }) =>
      any(q)
        .updateTable(name)
        .set({
          ...Object.fromEntries(columns.map((column) => [column, p[`c_${column}`]])),
          version: sql`version + 1`,
          updated_at: p['now'],
        } as never)
        .where('id', '=', p['id'] as never),
    )
  const removeQuery = prepared<{ id: number }, never>(({ q, p }) =>
    any(q)
      .deleteFrom(name)
      .where('id', '=', p.id as never),
  )
  const getQuery = prepared<{ user: number; id: number }, SyncedRowOf>(({ q, p }) =>
    any(q)
      .selectFrom(name)
      .select(shown as never[])
      .where('user_id', '=', p.user as never)
      .where('id', '=', p.id as never),
  )
  const afterQuery = prepared<{ user: number; id: number; limit: number }, SyncedRowOf>(({ q, p }) =>
    any(q)
      .selectFrom(name)
      .select(shown as never[])
      .where('user_id', '=', p.user as never)
      .where('id', '>', p.id as never)
      .orderBy('id')
      .limit(p.limit),
  )
  const versionQuery = prepared<{ user: number; id: number }, { version: number }>(({ q, p }) =>
    any(q)
      .selectFrom(name)
      .select('version')
      .where('user_id', '=', p.user as never)
      .where('id', '=', p.id as never),
  )
  return {
    ...insertion(shape),
    async update(tx, id, values, now) {
      // The columns present decide the statement; sorting them keeps the number of statements small.
      const columns = Object.keys(values).sort()
      const key = columns.join()
      let query = updates.get(key)
      if (!query) updates.set(key, (query = updateOf(columns)))
      const parameters: Record<string, unknown> = { id, now }
      for (const column of columns) parameters[`c_${column}`] = values[column]
      await query(tx, parameters)
    },
    async remove(tx, id) {
      await removeQuery(tx, { id })
    },
    get: (on, user, id) => first(getQuery(on, { user, id })),
    after: (on, user, id, limit) => afterQuery(on, { user, id, limit }),
    async version(on, user, id) {
      return (await first(versionQuery(on, { user, id })))?.version
    },
  }
}
