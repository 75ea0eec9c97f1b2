import { sql } from 'kysely'
import { randomHex } from '../../base/random.ts'
import type { Database, SchemaDialect, Writer } from '../engine/database.ts'
import type { Pattern, SearchIndex } from './search-index.ts'

// The index of a Postgres installation: two tables beside the others, in no copy of the database. Of several servers the one
// that holds the lease updates it.

const LEASE_SECONDS = 60

const quoted = ({ text, prefix }: Pattern): string => `'${text}'${prefix ? ':*' : ''}`

const conjunction = (groups: readonly (readonly Pattern[])[]): string =>
  groups.map((group) => `(${group.map(quoted).join(' | ')})`).join(' & ')

/** Creates the tables where they are missing. */
async function createIn(tx: Writer, { text, integer, id }: SchemaDialect): Promise<void> {
  await sql`create table if not exists search_state (
    name ${text} primary key, value ${text} not null, until ${integer} not null default 0)`.execute(tx.q)
  await sql`create table if not exists search_documents (
    id ${id}, key ${integer} not null unique, scope ${integer} not null, terms tsvector not null)`.execute(tx.q)
  await sql`create index if not exists search_documents_terms on search_documents using gin (terms)
    with (fastupdate = off)`.execute(tx.q)
  await sql`create index if not exists search_documents_scope on search_documents (scope)`.execute(tx.q)
}

/** The index as tables of the database (`tsvector`, GIN). The first use creates them. */
export function postgresSearchIndex(database: Database): SearchIndex {
  const own = randomHex(8)
  let isCreated = false

  const write = <T>(unit: (tx: Writer) => Promise<T>): Promise<T> => database.write({ keys: ['search'] }, unit)

  async function ensure(): Promise<void> {
    if (!isCreated) await write((tx) => createIn(tx, database.dialect))
    isCreated = true
  }

  /** Renews the lease; with `take` also one of another server that has expired. */
  const lease = async (tx: Writer, take: boolean): Promise<boolean> => {
    const { rows } = await sql`insert into search_state (name, value, until)
      values ('lease', ${own}, extract(epoch from clock_timestamp())::bigint + ${sql.lit(LEASE_SECONDS)})
      on conflict (name) do update set value = excluded.value, until = excluded.until
      where search_state.value = excluded.value
        or (${sql.lit(take)} and search_state.until < extract(epoch from clock_timestamp())) returning 1`.execute(tx.q)
    return rows.length > 0
  }

  const putState = (tx: Writer, state: string) =>
    sql`insert into search_state (name, value) values ('state', ${state})
      on conflict (name) do update set value = excluded.value`.execute(tx.q)

  return {
    async acquire() {
      await ensure()
      return write((tx) => lease(tx, true))
    },
    async state() {
      await ensure()
      const { rows } = await sql<{ value: string }>`select value from search_state where name = 'state'`.execute(
        database.read.q,
      )
      return rows[0]?.value
    },
    clear: (state) =>
      write(async (tx) => {
        await sql`truncate search_documents`.execute(tx.q)
        await putState(tx, state)
      }),
    update: ({ documents, gone, state }) =>
      write(async (tx) => {
        if (!(await lease(tx, false))) return false
        const replaced = [...gone, ...documents.map(({ key }) => key)]
        if (replaced.length > 0)
          await sql`delete from search_documents where key in (${sql.join(replaced)})`.execute(tx.q)
        for (const { key, scope, terms } of documents)
          await sql`insert into search_documents (key, scope, terms)
            values (${key}, ${scope}, array_to_tsvector(${terms}::text[]))`.execute(tx.q)
        if (state !== undefined) await putState(tx, state)
        return true
      }),
    async find({ all, not, scopes, before = Number.MAX_SAFE_INTEGER, limit }) {
      await ensure()
      const match = `${conjunction(all)}${not ? ` & !(${conjunction(not)})` : ''}`
      const { rows } = await sql<{ id: number; key: number }>`select id, key from search_documents
        where terms @@ ${match}::tsquery and id < ${before} and scope in (${sql.join(scopes)})
        order by id desc limit ${limit}`.execute(database.read.q)
      return rows
    },
    async scopes() {
      const { rows } = await sql<{ scope: number }>`select distinct scope from search_documents`.execute(
        database.read.q,
      )
      return rows.map(({ scope }) => scope)
    },
    async removeSome(scope) {
      await write((tx) => sql`delete from search_documents where scope = ${scope}`.execute(tx.q))
      return false
    },
    // Another server can go on at once; where the database is gone, when the lease has expired.
    async close() {
      if (!isCreated) return
      await write(async (tx) => {
        await sql`delete from search_state where name = 'lease' and value = ${own}`.execute(tx.q)
      }).catch(() => undefined)
    },
  }
}
