import { sql } from 'kysely'
import type { Database, Writer } from './database.ts'
import type { Tables } from './tables.ts'

/** Rows deleted per transaction: few enough that other writers hardly wait. */
export const SLICE = 1_000

/** The age column of a table, which needs an index, and its primary key. */
interface Aging {
  table: keyof Tables
  age: string
  key: readonly string[]
}

/** Deletes the oldest `limit` rows from before `before`. Returns their number. */
export const deleteOldest =
  ({ table, age, key }: Aging) =>
  async (tx: Writer, before: number, limit = SLICE): Promise<number> => {
    const keys = sql.join(key.map((column) => sql.ref(column)))
    const { rows } = await sql`delete from ${sql.table(table)} where (${keys}) in (
      select ${keys} from ${sql.table(table)} where ${sql.ref(age)} < ${before} order by ${sql.ref(age)} limit ${limit}
    ) returning 1 as gone`.execute(tx.q)
    return rows.length
  }

/** Runs `remove` in transactions until a slice is not full; returns the deleted rows. Continues after a crash. */
export async function inSlices(
  database: Database,
  remove: (tx: Writer, limit: number) => Promise<number>,
): Promise<number> {
  let total = 0
  for (;;) {
    const removed = await database.write('instance', (tx) => remove(tx, SLICE))
    total += removed
    if (removed < SLICE) return total
  }
}
