import { sql, type Kysely } from 'kysely'
import { prepared, type Reader } from './database.ts'
import { commonColumns, type TableShape } from './rows.ts'
import type { Tables } from './tables.ts'

/** A change of one table with the row as it is now; the row's columns are null when it is gone. */
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

/** How one table appears in the feed and in the initial dump. */
export interface FeedSource {
  /** Changes in (after, upTo], in order. */
  changed(on: Reader, range: Range): Promise<FeedRow[]>
  /** Every row the account sees, by id. */
  all(on: Reader, user: number): Promise<Record<string, unknown>[]>
}

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

/** Which tables have changes among the next `limit` ones after a cursor, how many, and up to where. */
export const nextPage = (on: Reader, user: number, after: number, limit: number) =>
  pageQuery(on, { user, after, limit })

/** A synchronised table as a source of the feed. */
export function tableSource(shape: TableShape): FeedSource {
  const columns = [...commonColumns, ...shape.columns.map(({ name }) => name)]
  return source(
    shape.name,
    sql.table(shape.name),
    columns.map((name) => sql`r.${sql.ref(name)}`),
    sql`r.user_id = c.user_id`,
  )
}

function source(
  table: string,
  from: ReturnType<typeof sql>,
  columns: ReturnType<typeof sql>[],
  owned: ReturnType<typeof sql>,
): FeedSource {
  const changed = prepared<Range, FeedRow>(({ q, p }) => ({
    compile: () =>
      sql<FeedRow>`select c.seq as feed_seq, c.born as feed_born, c.deleted as feed_deleted, c.row_id as feed_id,
        ${sql.join(columns)}
        from changes c left join ${from} r on r.id = c.row_id and ${owned} and c.deleted = 0
        where c.user_id = ${p.user} and c.tbl = ${sql.lit(table)} and c.seq > ${p.after} and c.seq <= ${p.upTo}
        order by c.seq`.compile(q as Kysely<Tables>),
  }))
  const all = prepared<{ user: number }, Record<string, unknown>>(({ q, p }) => ({
    compile: () =>
      sql<Record<string, unknown>>`select ${sql.join(columns)}
        from (select cast(${p.user} as integer) as user_id) c join ${from} r on ${owned} order by r.id`.compile(
        q as Kysely<Tables>,
      ),
  }))
  return { changed: (on, range) => changed(on, range), all: (on, user) => all(on, { user }) }
}

/** The caller's file tree without its root, whose children show no parent. */
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
  sql`r.user_id = c.user_id and r.parent_id is not null and r.room_id is null and r.trash_id is null`,
)

const joined = (room: ReturnType<typeof sql>) =>
  sql`exists (select 1 from room_members m where m.room_id = ${room} and m.user_id = c.user_id)`

/** Chat rooms of the caller. */
export const roomsSource: FeedSource = source(
  'svc_rooms',
  sql`rooms`,
  ['id', 'name', 'type', 'created_by', 'version', 'created_at', 'updated_at'].map((name) => sql`r.${sql.ref(name)}`),
  joined(sql`r.id`),
)

/** Messages of the caller's rooms. */
export const messagesSource: FeedSource = source(
  'svc_messages',
  sql`messages`,
  ['id', 'room_id', 'user_id', 'content', 'timestamp', 'edited_at', 'reply_to', 'version'].map(
    (name) => sql`r.${sql.ref(name)}`,
  ),
  joined(sql`r.room_id`),
)
