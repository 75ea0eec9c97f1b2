import { sql, type RawBuilder } from 'kysely'
import type { Reader, SchemaDialect, Writer } from '../engine/database.ts'

// Rows whose entry in the search index is out of date. Triggers write it, so that it also has what servers of other versions
// change, and what a cascade removes. It is only appended to: a row that changes while it is indexed is queued again.

/** Tables of the feed that have triggers of their own, or are not searched. */
const NOT_BY_FEED = ['svc_files', 'svc_rooms', 'svc_messages', 'svc_finance']

export function searchQueueSchema({ id, integer, text, strict, trigger }: SchemaDialect): RawBuilder<unknown>[] {
  const queued = (name: string, when: string, body: RawBuilder<unknown>) =>
    trigger({ name: `search_${name}`, when }, sql`insert into search_queue (tbl, row_id) ${body}`)
  const row = (table: string, version: 'new' | 'old') => sql.raw(`values ('${table}', ${version}.id)`)
  const feed = sql`select new.tbl, new.row_id where new.tbl not in (${sql.join(NOT_BY_FEED.map((name) => sql.lit(name)))})`
  const own = (table: string, columns: string) => [
    ...queued(`added_${table}`, `after insert on ${table}`, row(table, 'new')),
    ...queued(`changed_${table}`, `after update of ${columns} on ${table}`, row(table, 'new')),
    ...queued(`removed_${table}`, `after delete on ${table}`, row(table, 'old')),
  ]
  return [
    sql`create table search_queue (id ${id}, tbl ${text} not null, row_id ${integer} not null) ${strict}`,
    ...queued('added_changes', 'after insert on changes', feed),
    ...queued('changed_changes', 'after update of seq on changes', feed),
    ...own('messages', 'content'),
    ...own('nodes', 'name, sha256, trash_id, room_id, user_id'),
  ]
}

export interface QueuedRow {
  id: number
  tbl: string
  row_id: number
}

export const queuedRows = (on: Reader, limit: number): Promise<QueuedRow[]> =>
  on.q.selectFrom('search_queue').selectAll().where('id', '>', 0).orderBy('id').limit(limit).execute()

/** Files whose content could not be read, with IDs above `after`. */
export const postponedRows = (on: Reader, after: number, limit: number): Promise<QueuedRow[]> =>
  on.q
    .selectFrom('search_queue')
    .selectAll()
    .where('id', '<', 0)
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute()

export const postponeRows = (tx: Writer, files: readonly number[]) =>
  tx.q
    .insertInto('search_queue')
    .values(files.map((row_id) => ({ id: -row_id, tbl: 'nodes', row_id })))
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute()

/** Removes rows that were read, not those queued since. */
export const unqueueRows = (tx: Writer, rows: readonly QueuedRow[]) =>
  tx.q
    .deleteFrom('search_queue')
    .where(
      'id',
      'in',
      rows.map(({ id }) => id),
    )
    .execute()
