import type { Domain } from '../../src/domain/domain.ts'

/** All rows of an account, and their cursor. */
export async function rowsAndCursorOf(sync: Domain['sync'], user: number, tables?: readonly string[]) {
  const { data, ...rest } = await sync.everything(user, tables)
  return { ...rest, data: Object.fromEntries(Object.entries(data).map(([table, rows]) => [table, rows.toJSON()])) }
}
