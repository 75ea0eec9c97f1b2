import { sql, type Kysely } from 'kysely'
import { countRows, ROW_BYTES, sizeOf, textsOf } from '../engine/data-usage.ts'
import { first, prepared, preparedRows, type Reader, type Writer } from '../engine/database.ts'
import { countedRows, type TableShape } from '../engine/synchronised-tables.ts'
import type { SyncedRow, Tables } from '../engine/tables.ts'

/** A stored value: booleans are 0 or 1, lists of texts are JSON. */
export type Stored = string | number | null

type AnyTables = Tables & Record<string, SyncedRow>

/** A row as read, without `user_id`. */
export type SyncedRowOf = Omit<SyncedRow, 'user_id' | 'id'> & { id: number }

/** Common columns of a row. */
export interface RowStamps {
  version: number
  /** ISO 8601. */
  created_at: string
  updated_at: string
}

export interface RowTable {
  /** Stores new rows and returns their IDs in the same order; missing columns are null or their default. */
  insert(tx: Writer, user: number, rows: readonly Record<string, Stored>[], now: string): Promise<number[]>
  /** Stores imported rows with their versions and times. */
  adopt(
    tx: Writer,
    user: number,
    rows: readonly { values: Record<string, Stored>; stamps: RowStamps }[],
  ): Promise<number[]>
  /** Returns the growth in bytes; undefined, and unchanged, if it exceeds `room`, unless negative. */
  update(
    tx: Writer,
    id: number,
    values: Record<string, Stored>,
    now: string,
    room?: number,
  ): Promise<number | undefined>
  /** Returns the row's bytes. */
  remove(tx: Writer, id: number): Promise<number>
  /** Bytes counted for a new row. */
  size(values: Record<string, Stored>): number
  get(on: Reader, user: number, id: number): Promise<SyncedRowOf | undefined>
  /** The next rows of the account by ID, without `user_id`. */
  after(on: Reader, user: number, id: number, limit: number): Promise<SyncedRowOf[]>
  /** The version of a row of the account. */
  version(on: Reader, user: number, id: number): Promise<number | undefined>
}

/** The columns of every synchronised row beside the declared ones. */
export const commonColumns = ['id', 'version', 'created_at', 'updated_at'] as const

const bytesIn = (values: readonly unknown[]): number =>
  values.reduce((sum: number, value) => sum + (typeof value === 'string' ? Buffer.byteLength(value) : 0), 0)

/** Bytes counted for a new row; missing columns have their default. */
const rowSize = ({ columns }: TableShape, values: Record<string, Stored>): number =>
  ROW_BYTES +
  bytesIn(textsOf(columns).map((text) => values[text] ?? (text in values ? null : defaultOf(columns, text))))

const defaultOf = (columns: TableShape['columns'], name: string): Stored =>
  columns.find((column) => column.name === name)!.default

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
    const bytes = rows.reduce((sum, { values }) => sum + rowSize(shape, values), 0)
    await countRows(tx, user, rows.length, bytes)
    // IDs increase in the order of the rows; engines return them in any order.
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

function alteration(shape: TableShape): Pick<RowTable, 'update' | 'remove' | 'size'> {
  const name = shape.name
  const any = (q: Kysely<Tables>) => q as unknown as Kysely<AnyTables>
  const updates = new Map<string, { update: ReturnType<typeof updateOf>; size: ReturnType<typeof sizeOfTexts> }>()

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
  const { texts } = countedRows(shape)
  const removeQuery = prepared<{ id: number }, { user_id: number; bytes: number }>(({ q, p }) => ({
    compile: () =>
      sql<{ user_id: number; bytes: number }>`delete from ${sql.table(name)} where id = ${p.id}
        returning user_id, ${sizeOf(texts)} as bytes`.compile(q),
  }))
  const sizeOfTexts = (columns: string[]) =>
    prepared<{ id: number }, { user_id: number; bytes: number }>(({ q, p }) => ({
      compile: () =>
        sql<{ user_id: number; bytes: number }>`select user_id, ${sizeOf(columns)} as bytes
          from ${sql.table(name)} where id = ${p.id}`.compile(q),
    }))
  return {
    async update(tx, id, values, now, room = -1) {
      // Sorting the columns keeps the number of statements small.
      const columns = Object.keys(values).sort()
      const key = columns.join()
      const parameters: Record<string, unknown> = { id, now }
      for (const column of columns) parameters[`c_${column}`] = values[column]
      const changed = texts.filter((column) => column in values)
      let known = updates.get(key)
      if (!known) updates.set(key, (known = { update: updateOf(columns), size: sizeOfTexts(changed) }))
      const found = changed.length > 0 ? await first(known.size(tx, { id })) : undefined
      const growth = found ? ROW_BYTES + bytesIn(changed.map((column) => values[column])) - found.bytes : 0
      if (room >= 0 && growth > room) return undefined
      await known.update(tx, parameters)
      if (growth !== 0) await countRows(tx, found!.user_id, 0, growth)
      return growth
    },
    async remove(tx, id) {
      const gone = await first(removeQuery(tx, { id }))
      if (gone) await countRows(tx, gone.user_id, -1, -gone.bytes)
      return gone?.bytes ?? 0
    },
    size: (values) => rowSize(shape, values),
  }
}

/** Queries of a synchronised table of `contract/tables.ts`. Units of work check rights and limits. */
export function rowTable(shape: TableShape): RowTable {
  const name = shape.name
  const shown = [...commonColumns, ...shape.columns.map((column) => column.name)]
  const any = (q: Kysely<Tables>) => q as unknown as Kysely<AnyTables>
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
    ...alteration(shape),
    get: (on, user, id) => first(getQuery(on, { user, id })),
    after: (on, user, id, limit) => afterQuery(on, { user, id, limit }),
    async version(on, user, id) {
      return (await first(versionQuery(on, { user, id })))?.version
    },
  }
}
