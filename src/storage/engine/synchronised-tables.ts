import { sql } from 'kysely'
import type { Database, Reader, SchemaDialect } from './database.ts'
import { countUncounted, textsOf, type CountedRows } from './data-usage.ts'

/** Declaration of a synchronised table; storage follows it. */
export interface TableShape {
  name: string
  columns: readonly { name: string; type: string; required: boolean; default: string | number | null }[]
}

const sqlType = (words: SchemaDialect, type: string) => {
  if (type === 'integer' || type === 'boolean') return words.integer
  return type === 'real' ? words.real : words.text
}

/** Creates the declared tables and adds missing columns. Nothing is ever dropped. */
export const ensureTables = (database: Database, shapes: readonly TableShape[]): Promise<void> =>
  database.write('instance', (tx) => ensureTablesIn(tx, database.dialect, shapes))

/** The same in a transaction: two processes may start at once. */
export async function ensureTablesIn(on: Reader, words: SchemaDialect, shapes: readonly TableShape[]): Promise<void> {
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
  await countUncounted(on, shapes.map(countedRows))
}

export const countedRows = ({ name, columns }: TableShape): CountedRows => ({ name, texts: textsOf(columns) })
