import { sql, type RawBuilder } from 'kysely'
import { dataKinds, type DataKind } from './data-kinds.ts'
import { first, prepared, type Reader, type SchemaDialect, type Writer } from './database.ts'

// Usage of an account outside its files, counted by kind in the transaction that changes it: synchronised tables by
// `rows.ts`, all others by triggers, which fire for every statement and cascade.

/** Bytes counted per row in addition to its texts: numbers, index entries, feed entry. */
export const ROW_BYTES = 256

interface CountedTable {
  kind: DataKind
  table: string
  texts: readonly string[]
  /** For rows that belong to an account through a parent. */
  parent?: { table: string; key: string }
}

const messageTexts = ['content', 'folded', 'client_id', 'spoken_by'] as const

const counted: readonly CountedTable[] = [
  { kind: 'chat', table: 'messages', texts: messageTexts },
  { kind: 'chat', table: 'reactions', texts: ['emoji'] },
  { kind: 'chat', table: 'deleted_messages', texts: [] },
  { kind: 'components', table: 'components', texts: ['component_id', 'code', 'metadata'] },
  { kind: 'components', table: 'component_profiles', texts: ['name'] },
  {
    kind: 'components',
    table: 'profile_components',
    texts: ['component_id', 'code', 'metadata'],
    parent: { table: 'component_profiles', key: 'profile_id' },
  },
  { kind: 'assistant', table: 'assistant_conversations', texts: ['title'] },
  {
    kind: 'assistant',
    table: 'assistant_messages',
    texts: ['content', 'actions'],
    parent: { table: 'assistant_conversations', key: 'conversation_id' },
  },
  { kind: 'assistant', table: 'assistant_confirmations', texts: ['state'] },
  { kind: 'assistant', table: 'change_sets', texts: [] },
  {
    kind: 'assistant',
    table: 'change_set_items',
    texts: ['kind', 'target', 'data'],
    parent: { table: 'change_sets', key: 'change_set_id' },
  },
  { kind: 'pushes', table: 'pushed_operations', texts: ['op_id', 'payload_hash', 'result'] },
  { kind: 'pushes', table: 'idempotency_keys', texts: ['key', 'payload_hash', 'answer'] },
]

/** Bytes of a row: its texts in UTF-8 and the fixed part. */
export const sizeOf = (texts: readonly string[], row = ''): RawBuilder<number> =>
  sql.raw([...texts.map((text) => `coalesce(octet_length(${row}${text}), 0)`), ROW_BYTES].join(' + '))

const literal = (kind: DataKind) => sql.lit(kind)

function triggersOf({ trigger }: SchemaDialect, { kind, table, texts, parent }: CountedTable): RawBuilder<unknown>[] {
  const [added, removed] = [sizeOf(texts, 'new.'), sizeOf(texts, 'old.')]
  const owner = (row: string) =>
    sql.raw(parent ? `(select user_id from ${parent.table} where id = ${row}.${parent.key})` : `${row}.user_id`)
  const where = (row: string) => sql`where user_id = ${owner(row)} and kind = ${literal(kind)}`
  return [
    ...trigger(
      { name: `count_added_${table}`, when: `after insert on ${table}` },
      sql`insert into data_usage (user_id, kind, items, bytes) select u.id, ${literal(kind)}, 1, ${added} from users u
        where u.id = ${owner('new')} on conflict (user_id, kind) do update set items = data_usage.items + 1,
        bytes = data_usage.bytes + excluded.bytes`,
    ),
    ...trigger(
      { name: `count_removed_${table}`, when: `after delete on ${table}` },
      sql`update data_usage set items = items - 1, bytes = bytes - (${removed}) ${where('old')}`,
    ),
    ...(texts.length === 0
      ? []
      : trigger(
          { name: `count_changed_${table}`, when: `after update of ${texts.join(', ')} on ${table}` },
          sql`update data_usage set bytes = bytes + (${added}) - (${removed}) ${where('new')}`,
        )),
    // A cascade finds no owner any more.
    ...(parent
      ? trigger(
          { name: `count_removed_with_${table}`, when: `before delete on ${parent.table}` },
          sql`update data_usage set
            items = items - (select count(*) from ${sql.raw(table)} where ${sql.raw(parent.key)} = old.id),
            bytes = bytes - (select coalesce(sum(${sizeOf(texts)}), 0) from ${sql.raw(table)}
              where ${sql.raw(parent.key)} = old.id)
            where user_id = old.user_id and kind = ${literal(kind)}`,
        )
      : []),
  ]
}

const foundSources = (): RawBuilder<unknown>[] =>
  counted.map(({ kind, table, texts, parent }) => {
    const from = parent ? sql.raw(`${table} t join ${parent.table} p on p.id = t.${parent.key}`) : sql.raw(`${table} t`)
    const owner = sql.raw(parent ? 'p.user_id' : 't.user_id')
    return sql`select ${owner} as user_id, ${literal(kind)} as kind, ${sizeOf(texts, 't.')} as size from ${from}`
  })

/** The table, its triggers, and the counts of existing data. */
export function countingSchema(words: SchemaDialect): RawBuilder<unknown>[] {
  const { integer, text, clustered } = words
  return [
    // -1 items: not counted yet.
    sql`create table data_usage (
      user_id ${integer} not null references users (id) on delete cascade,
      kind ${text} not null,
      items ${integer} not null,
      bytes ${integer} not null,
      primary key (user_id, kind)
    ) ${clustered}`,
    sql`insert into data_usage (user_id, kind, items, bytes) select user_id, kind, count(*), sum(size) from (
      ${sql.join(foundSources(), sql` union all `)}
    ) found where user_id is not null group by user_id, kind`,
    sql`insert into data_usage (user_id, kind, items, bytes) select id, 'rows', -1, 0 from users`,
    ...counted.flatMap((table) => triggersOf(words, table)),
  ]
}

/** A synchronised table for counting. */
export interface CountedRows {
  name: string
  texts: readonly string[]
}

export const textsOf = (columns: readonly { name: string; type: string }[]): string[] =>
  columns.filter(({ type }) => !['integer', 'boolean', 'real'].includes(type)).map(({ name }) => name)

const actual = (rows: readonly CountedRows[]): RawBuilder<unknown> => {
  const synced = rows.map(
    ({ name, texts }) =>
      sql`select t.user_id, 'rows' as kind, ${sizeOf(texts, 't.')} as size from ${sql.table(name)} t`,
  )
  return sql`(select user_id, kind, count(*) as items, sum(size) as bytes from (
    ${sql.join([...foundSources(), ...synced], sql` union all `)}) found where user_id is not null group by user_id, kind)`
}

/** A counter that differs from the rows. */
export interface DataDrift {
  user_id: number
  username: string
  kind: DataKind
  items: number
  bytes: number
  /** According to the counter. */
  counted: number
}

/** All wrong counters, or those of one account. Reads every row: for administrators, not for requests. */
export async function dataDriftsOf(on: Reader, rows: readonly CountedRows[], user?: number): Promise<DataDrift[]> {
  const { rows: found } = await sql<DataDrift>`select u.id as user_id, u.username, k.kind,
      coalesce(a.items, 0) as items, coalesce(a.bytes, 0) as bytes, coalesce(d.bytes, 0) as counted
    from users u
    cross join (${sql.join(
      dataKinds.map((kind) => sql`select ${literal(kind)} as kind`),
      sql` union all `,
    )}) k
    left join ${actual(rows)} a on a.user_id = u.id and a.kind = k.kind
    left join data_usage d on d.user_id = u.id and d.kind = k.kind
    where (coalesce(a.items, 0) <> coalesce(d.items, 0) or coalesce(a.bytes, 0) <> coalesce(d.bytes, 0))
      ${user === undefined ? sql`` : sql`and u.id = ${user}`}
    order by u.username, k.kind`.execute(on.q)
  return found.map((drift) => ({ ...drift, items: Number(drift.items), bytes: Number(drift.bytes) }))
}

const moveQuery = prepared<{ user: number; kind: DataKind; items: number; bytes: number }, never>(({ q, p }) =>
  q
    .insertInto('data_usage')
    .values({ user_id: p.user, kind: p.kind, items: p.items, bytes: p.bytes })
    .onConflict((conflict) =>
      conflict.columns(['user_id', 'kind']).doUpdateSet({
        items: sql`data_usage.items + excluded.items`,
        bytes: sql`data_usage.bytes + excluded.bytes`,
      }),
    ),
)

/** Adds to a counter; negative values subtract. */
export const countRows = (tx: Writer, user: number, items: number, bytes: number) =>
  moveQuery(tx, { user, kind: 'rows', items, bytes })

/** Triggers do not see a change of author: call this in the transaction that makes it. */
export async function moveMessageCounts(
  tx: Writer,
  ids: readonly number[],
  { from, to }: { from: number; to: number },
): Promise<void> {
  const { rows } = await sql<{ bytes: number }>`select sum(${sizeOf(messageTexts)}) as bytes from messages
    where id in (${sql.join(ids)})`.execute(tx.q)
  const [items, bytes] = [ids.length, Number(rows[0]!.bytes)]
  await moveQuery(tx, { user: from, kind: 'chat', items: -items, bytes: -bytes })
  await moveQuery(tx, { user: to, kind: 'chat', items, bytes })
}

/** Corrects counters. */
export async function repairDataUsage(tx: Writer, drifts: readonly DataDrift[]): Promise<void> {
  for (const { user_id, kind, items, bytes } of drifts)
    await tx.q
      .insertInto('data_usage')
      .values({ user_id, kind, items, bytes })
      .onConflict((conflict) => conflict.columns(['user_id', 'kind']).doUpdateSet({ items, bytes }))
      .execute()
}

/** Counts the accounts whose counters a migration left at -1; for others it costs one query. */
export async function countUncounted(on: Reader, rows: readonly CountedRows[]): Promise<void> {
  const waiting = sql`(select user_id from data_usage where kind = 'rows' and items < 0)`
  const { rows: some } = await sql`select 1 from data_usage where kind = 'rows' and items < 0 limit 1`.execute(on.q)
  if (some.length === 0) return
  await sql`insert into data_usage (user_id, kind, items, bytes)
    select user_id, 'rows', sum(items), sum(bytes) from (
      ${sql.join(
        rows.map(
          ({ name, texts }) => sql`select user_id, count(*) as items, sum(${sizeOf(texts)}) as bytes
            from ${sql.table(name)} group by user_id`,
        ),
        sql` union all `,
      )}) found where user_id in ${waiting} group by user_id
    on conflict (user_id, kind) do update set items = excluded.items, bytes = excluded.bytes`.execute(on.q)
  await sql`update data_usage set items = 0 where kind = 'rows' and items < 0`.execute(on.q)
}

export interface DataUsage {
  items: number
  bytes: number
}

const usageQuery = prepared<{ user: number; kind: DataKind }, DataUsage>(({ q, p }) =>
  q.selectFrom('data_usage').select(['items', 'bytes']).where('user_id', '=', p.user).where('kind', '=', p.kind),
)

/** Items and bytes of one kind of data. */
export const dataUsage = async (on: Reader, user: number, kind: DataKind): Promise<DataUsage> =>
  (await first(usageQuery(on, { user, kind }))) ?? { items: 0, bytes: 0 }

/** Usage of all kinds, of one account or of all. */
export const allDataUsage = (on: Reader, user?: number) =>
  on.q
    .selectFrom('data_usage')
    .select(['user_id', 'kind', 'items', 'bytes'])
    .$if(user !== undefined, (query) => query.where('user_id', '=', user!))
    .execute()
