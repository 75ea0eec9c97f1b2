import { feedTables, isWritable } from '../../contract/tables.ts'
import type { SqliteFile } from '../../host/sqlite-file.ts'
import type { Everything, Page, Place, ServerRow } from './replica-records.ts'

export const BASE_SCHEMA = `
  create table if not exists facts (name text primary key, value text not null) strict, without rowid;
  create table if not exists rows (
    tbl text not null, id integer not null, version integer not null, data text not null, primary key (tbl, id)
  ) strict, without rowid;
`

const versionOf = ({ version }: ServerRow): number => (typeof version === 'number' ? version : 0)

/** The last known rows of the server, and the feed position. */
export function makeBase(db: SqliteFile) {
  const get = <T>(name: string): T | undefined => {
    const row = db.get<{ value: string }>('select value from facts where name = ?', name)
    return row && (JSON.parse(row.value) as T)
  }
  const set = (name: string, value: unknown): void =>
    db.run(
      'insert into facts values (?, ?) on conflict do update set value = excluded.value',
      name,
      JSON.stringify(value),
    )
  const upsert = (table: string, row: ServerRow): void =>
    db.run(
      `insert into rows values (?, ?, ?, ?) on conflict do update set version = excluded.version, data = excluded.data
        where excluded.version >= rows.version`,
      table,
      row.id,
      versionOf(row),
      JSON.stringify(row),
    )
  const version = (table: string, id: number): number | undefined =>
    db.get<{ version: number }>('select version from rows where tbl = ? and id = ?', table, id)?.version
  const remove = (table: string, id: number): void => db.run('delete from rows where tbl = ? and id = ?', table, id)

  return {
    get,
    set,
    place: (): Place | undefined => get<Place>('place'),
    /** Whether the rows were downloaded by a version with the same tables: rows of others were dropped. */
    hasAllTables(): boolean {
      const known = get<string[]>('tables') ?? []
      return feedTables.every((table) => known.includes(table))
    },
    row(table: string, id: number): ServerRow | undefined {
      const found = db.get<{ data: string }>('select data from rows where tbl = ? and id = ?', table, id)
      return found && (JSON.parse(found.data) as ServerRow)
    },
    rows: (table: string): ServerRow[] =>
      db
        .all<{ data: string }>('select data from rows where tbl = ? order by id', table)
        .map(({ data }) => JSON.parse(data) as ServerRow),
    /** Stores a row unless a newer version is known. */
    upsert,
    remove,

    /**
     * Applies a page read after `since`, with its cursor; returns how many of the account's rows changed. A page older
     * than the known state is skipped: it would restore deleted rows.
     */
    learn({ changes, cursor, epoch }: Page, since: number, now: number): number {
      return db.transaction(() => {
        const at = get<Place>('place')
        if (at?.epoch !== epoch || since > at.cursor) return 0
        const news = changes.filter((change) => change.cursor > at.cursor)
        let count = 0
        for (const { table, row, deleted } of news) {
          const before = isWritable(table) ? version(table, row.id) : undefined
          if (isWritable(table) && (deleted ? before !== undefined : before !== row['version'])) count += 1
          if (deleted) remove(table, row.id)
          else upsert(table, row)
        }
        set('place', { cursor: Math.max(at.cursor, cursor), epoch, asked: Math.max(at.asked, now) } satisfies Place)
        return count
      })
    },

    replace({ rows, cursor, epoch }: Everything, now: number): void {
      db.run('delete from rows')
      for (const [table, list] of rows) for (const row of list) upsert(table, row)
      set('place', { cursor, epoch, asked: now } satisfies Place)
      set('tables', feedTables)
    },
  }
}

export type Base = ReturnType<typeof makeBase>
