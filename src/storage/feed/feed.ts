import { sql, type Kysely } from 'kysely'
import { ROW_BYTES, sizeOf } from '../engine/data-usage.ts'
import { first, prepared, type Reader } from '../engine/database.ts'
import { commonColumns } from './rows.ts'
import { countedRows, type TableShape } from '../engine/synchronised-tables.ts'
import type { Tables } from '../engine/tables.ts'

/** A change of one table with the current row; its columns are null if it is deleted. */
export interface FeedRow {
  feed_seq: number
  feed_born: number
  feed_deleted: number
  feed_id: number
  [column: string]: unknown
}

interface Range {
  [name: string]: unknown
  user: number
  after: number
  upTo: number
}

/** How a table appears in the feed and in the initial dump. */
export interface FeedSource {
  /** Changes in (after, upTo], in order. */
  changed(on: Reader, range: Range): Promise<FeedRow[]>
  /** Approximate bytes of these rows, in the same order; undefined if no row is large. */
  sizes: ((on: Reader, range: Range) => Promise<{ seq: number; bytes: number }[]>) | undefined
  /** A part of the visible rows after an ID, by ID, and the last ID; undefined for the last part. */
  part(on: Reader, user: number, after: number): Promise<{ rows: Record<string, unknown>[]; upTo: number | undefined }>
}

/** Rows per part, visible or not, and their bytes: few enough for one query. */
const PART = 1_000
const PART_BYTES = 1_048_576

const pageQuery = prepared<
  { user: number; after: number; limit: number },
  { tbl: string; upTo: number; count: number }
>(({ q, p }) =>
  q
    .selectFrom(
      q
        .selectFrom('changes')
        .select(['tbl', 'seq'])
        .where('user_id', '=', p.user)
        .where('seq', '>', p.after)
        .orderBy('seq')
        .limit(p.limit)
        .as('page'),
    )
    .select(({ fn }) => ['tbl', fn.max<number>('seq').as('upTo'), fn.count<number>('seq').as('count')])
    .groupBy('tbl'),
)

/** Tables with changes among the next `limit` after a cursor, the number of changes, and the last position. */
export const nextPage = (on: Reader, user: number, after: number, limit: number) =>
  pageQuery(on, { user, after, limit })

/** The feed of a synchronised table of `contract/tables.ts`. */
export function tableSource(shape: TableShape): FeedSource {
  const columns = [...commonColumns, ...shape.columns.map(({ name }) => name)]
  return source(
    shape.name,
    sql.table(shape.name),
    columns.map((name) => sql`r.${sql.ref(name)}`),
    sql`r.user_id = c.user_id`,
    ({ user, after }) => sql`${sql.table(shape.name)} r where user_id = ${user} and id > ${after}`,
    sizeOf(countedRows(shape).texts, 'r.'),
  )
}

type Fragment = ReturnType<typeof sql>

/** Rows `r` after an ID that include those of the account, in the order of an index. */
type Rows = (at: { user: number; after: number }) => Fragment

/** `listed` is the condition for the initial dump, if rows appear in the feed later. */
function source(
  table: string,
  from: Fragment,
  columns: Fragment[],
  owned: Fragment,
  rows: Rows,
  size?: Fragment,
  listed = owned,
): FeedSource {
  const changed = prepared<Range, FeedRow>(({ q, p }) => ({
    compile: () =>
      sql<FeedRow>`select c.seq as feed_seq, c.born as feed_born, c.deleted as feed_deleted, c.row_id as feed_id,
        ${sql.join(columns)}
        from changes c left join ${from} r on r.id = c.row_id and ${owned} and c.deleted = 0
        where c.user_id = ${p.user} and c.tbl = ${sql.lit(table)} and c.seq > ${p.after} and c.seq <= ${p.upTo}
        order by c.seq`.compile(q as Kysely<Tables>),
  }))
  const sizes = prepared<Range, { seq: number; bytes: number }>(({ q, p }) => ({
    compile: () =>
      sql<{
        seq: number
        bytes: number
      }>`select c.seq, coalesce(${size ?? sql.lit(ROW_BYTES)}, ${sql.lit(ROW_BYTES)}) as bytes
        from changes c left join ${from} r on r.id = c.row_id and ${owned} and c.deleted = 0
        where c.user_id = ${p.user} and c.tbl = ${sql.lit(table)} and c.seq > ${p.after} and c.seq <= ${p.upTo}
        order by c.seq`.compile(q as Kysely<Tables>),
  }))
  const end = prepared<{ user: number; after: number }, { seen: number; upTo: number; last: number }>(({ q, p }) => ({
    compile: () =>
      sql<{ seen: number; upTo: number; last: number }>`select count(*) as seen, max(id) as last,
        max(case when before < ${sql.lit(PART_BYTES)} then id end) as "upTo" from (
          select id, sum(bytes) over (order by id) - bytes as before from (
            select id, ${size ?? sql.lit(ROW_BYTES)} as bytes from ${rows(p)} order by id limit ${sql.lit(PART)}
          ) as weighed
        ) as part`.compile(q as Kysely<Tables>),
  }))
  const within = prepared<{ user: number; after: number; upTo: number }, Record<string, unknown>>(({ q, p }) => ({
    compile: () =>
      sql<Record<string, unknown>>`select ${sql.join(columns)}
        from (select cast(${p.user} as integer) as user_id) c join ${from} r on ${listed}
        where r.id > ${p.after} and r.id <= ${p.upTo} order by r.id`.compile(q as Kysely<Tables>),
  }))
  return {
    changed: (on, range) => changed(on, range),
    sizes: size && ((on, range) => sizes(on, range)),
    async part(on, user, after) {
      const { seen, upTo, last } = (await first(end(on, { user, after })))!
      if (seen === 0) return { rows: [], upTo: undefined }
      const isLast = seen < PART && upTo === last
      return { rows: await within(on, { user, after, upTo }), upTo: isLast ? undefined : upTo }
    },
  }
}

const nodesAfter = (type: string, user: number, after: number) =>
  sql`select id from nodes where user_id = ${user} and type = ${sql.lit(type)} and id > ${after}
    order by id limit ${sql.lit(PART)}`

/** The account's file tree without its root; children of the root have no parent. */
export const filesSource: FeedSource = source(
  'svc_files',
  sql`nodes`,
  [
    sql`r.id`,
    sql`(select p.id from nodes p where p.id = r.parent_id and p.parent_id is not null) as parent_id`,
    ...['name', 'type', 'size', 'sha256', 'mtime', 'version', 'created_at', 'updated_at'].map(
      (name) => sql`r.${sql.ref(name)}`,
    ),
  ],
  // The index has the type before the ID: with it, every part is one range.
  sql`r.user_id = c.user_id and r.type in ('file', 'directory')
    and r.parent_id is not null and r.room_id is null and r.trash_id is null`,
  ({ user, after }) =>
    sql`(select id from (${nodesAfter('file', user, after)}) f
      union all select id from (${nodesAfter('directory', user, after)}) d) r where true`,
)

const joined = (room: ReturnType<typeof sql>) =>
  sql`exists (select 1 from room_members m where m.room_id = ${room} and m.user_id = c.user_id)`

export const roomsSource: FeedSource = source(
  'svc_rooms',
  sql`rooms`,
  ['id', 'name', 'type', 'created_by', 'version', 'created_at', 'updated_at'].map((name) => sql`r.${sql.ref(name)}`),
  joined(sql`r.id`),
  ({ after }) => sql`rooms r where id > ${after}`,
)

export const messagesSource: FeedSource = source(
  'svc_messages',
  sql`messages`,
  ['id', 'room_id', 'user_id', 'content', 'timestamp', 'edited_at', 'reply_to', 'version'].map(
    (name) => sql`r.${sql.ref(name)}`,
  ),
  joined(sql`r.room_id`),
  ({ after }) => sql`messages r where id > ${after}`,
  sizeOf(['content'], 'r.'),
  // What the feed of a member has not taken over is not listed yet: it comes after the cursor.
  sql`exists (select 1 from room_members m join rooms o on o.id = m.room_id where m.room_id = r.room_id
    and m.user_id = c.user_id and (o.feed_stamp is null or r.timestamp <= m.feed_stamp))`,
)
