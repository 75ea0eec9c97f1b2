import type { SqliteFile } from '../../host/sqlite-file.ts'
import type { TableName } from '../../contract/tables.ts'
import type { Row } from '../rows/row-values.ts'
import type { RejectedChange, Verb } from './replica-records.ts'

export const REJECTED_SCHEMA = `
  create table if not exists letters (
    id integer primary key autoincrement, kind text not null, op_id text not null, tbl text not null, verb text not null,
    row_id integer not null, mine text not null, before_row text, theirs text, code text not null, message text not null,
    at integer not null
  ) strict;
`

interface RejectedRow {
  id: number
  kind: string
  op_id: string
  tbl: string
  verb: string
  row_id: number
  mine: string
  before_row: string | null
  theirs: string | null
  code: string
  message: string
  at: number
}

const parsed = (text: string | null): Row | null => (text === null ? null : (JSON.parse(text) as Row))

const rejectedOf = (row: RejectedRow): RejectedChange => ({
  id: row.id,
  kind: row.kind as RejectedChange['kind'],
  op_id: row.op_id,
  table: row.tbl as TableName,
  verb: row.verb as Verb,
  row: row.row_id,
  mine: parsed(row.mine)!,
  before: parsed(row.before_row),
  theirs: parsed(row.theirs),
  code: row.code,
  message: row.message,
  at: row.at,
})

const textOf = (row: Row | null): string | null => (row === null ? null : JSON.stringify(row))

export function makeRejectedChanges(db: SqliteFile) {
  return {
    all: (): RejectedChange[] => db.all<RejectedRow>('select * from letters order by id').map(rejectedOf),
    byOp(op_id: string): RejectedChange | undefined {
      const row = db.get<RejectedRow>('select * from letters where op_id = ?', op_id)
      return row && rejectedOf(row)
    },
    add({ kind, op_id, table, verb, row, mine, before, theirs, code, message, at }: Omit<RejectedChange, 'id'>): void {
      const sql =
        'insert into letters (kind, op_id, tbl, verb, row_id, mine, before_row, theirs, code, message, at) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)'
      db.run(sql, kind, op_id, table, verb, row, textOf(mine), textOf(before), textOf(theirs), code, message, at)
    },
    remove: (id: number): void => db.run('delete from letters where id = ?', id),
    count(): { conflicts: number; refused: number } {
      const rows = db.all<{ kind: string; n: number }>('select kind, count(*) as n from letters group by kind')
      const of = (kind: RejectedChange['kind']): number => rows.find((row) => row.kind === kind)?.n ?? 0
      return { conflicts: of('conflict'), refused: of('refused') }
    },
  }
}

export type RejectedChanges = ReturnType<typeof makeRejectedChanges>
