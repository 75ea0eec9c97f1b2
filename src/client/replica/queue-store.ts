import { randomUUID } from 'node:crypto'
import type { TableName } from '../../contract/tables.ts'
import type { SqliteFile } from '../../host/sqlite-file.ts'
import type { Row } from '../rows/row-values.ts'
import type { Base } from './replica-base.ts'
import type { Verb, Waiting } from './replica-records.ts'

export const QUEUE_SCHEMA = `
  create table if not exists queue (
    seq integer primary key autoincrement, op_id text not null unique, tbl text not null, verb text not null,
    row_id integer not null, data text not null, base_version integer, chained integer not null, before_row text,
    fixed integer not null, strict_base integer not null, sent integer not null, at integer not null
  ) strict;
  create index if not exists queue_row on queue (tbl, row_id);
  create table if not exists ids (local integer primary key, tbl text not null, id integer not null) strict;
`

interface QueueRow {
  seq: number
  op_id: string
  tbl: string
  verb: string
  row_id: number
  data: string
  base_version: number | null
  chained: number
  before_row: string | null
  fixed: number
  strict_base: number
  sent: number
  at: number
}

const waitingOf = (row: QueueRow): Waiting => ({
  seq: row.seq,
  op_id: row.op_id,
  table: row.tbl as TableName,
  verb: row.verb as Verb,
  row: row.row_id,
  values: JSON.parse(row.data) as Row,
  base_version: row.base_version,
  chained: row.chained === 1,
  before: row.before_row === null ? null : (JSON.parse(row.before_row) as Row),
  fixed: row.fixed === 1,
  strict: row.strict_base === 1,
  sent: row.sent > 0,
  at: row.at,
})

/** The stored queue. Called within a transaction. */
export function makeQueueStore(db: SqliteFile, base: Base) {
  const many = (where: string, ...values: (string | number)[]): Waiting[] =>
    db.all<QueueRow>(`select * from queue ${where}`, ...values).map(waitingOf)

  function nextLocalId(): number {
    const id = (base.get<number>('local_id') ?? 0) - 1
    base.set('local_id', id)
    return id
  }

  function insert(waiting: Omit<Waiting, 'seq'>): Waiting {
    const sql = `insert into queue (op_id, tbl, verb, row_id, data, base_version, chained, before_row, fixed, strict_base, sent, at)
      values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
    const { op_id, table, verb, row, values, base_version, chained, before, fixed, strict, sent, at } = waiting
    const flags = [fixed, strict, sent].map(Number) as [number, number, number]
    const texts = [JSON.stringify(values), before === null ? null : JSON.stringify(before)] as const
    db.run(sql, op_id, table, verb, row, texts[0], base_version, Number(chained), texts[1], ...flags, at)
    const { seq } = db.get<{ seq: number }>('select seq from queue where op_id = ?', op_id)!
    return { seq, ...waiting }
  }

  /** The server's ID of a row created here, once it has one. */
  function resolve(row: number): number {
    return db.get<{ id: number }>('select id from ids where local = ?', row)?.id ?? row
  }

  const ofRow = (table: TableName, row: number): Waiting[] =>
    many('where tbl = ? and row_id = ? order by seq', table, row)
  const remove = (seq: number): void => db.run('delete from queue where seq = ?', seq)

  return {
    all: (): Waiting[] => many('order by seq'),
    first: (count: number): Waiting[] => many('order by seq limit ?', count),
    of: (table: string): Waiting[] => many('where tbl = ? order by seq', table),
    ofRow,
    resolve,
    remove,
    insert,
    nextLocalId,
    byOp: (op_id: string): Waiting | undefined => many('where op_id = ?', op_id)[0],
    /** Whether an operation is still in the queue unchanged. */
    has: (seq: number, op_id: string): boolean =>
      db.get('select 1 as one from queue where seq = ? and op_id = ?', seq, op_id) !== undefined,
    count: (): number => db.get<{ n: number }>('select count(*) as n from queue')!.n,

    /** Changes the values of an unsent operation. */
    hold: (seq: number, values: Row): void =>
      db.run('update queue set data = ? where seq = ?', JSON.stringify(values), seq),

    /** Counted, because several processes may be sending the same operation. */
    sent(batch: readonly Waiting[]): void {
      for (const { seq } of batch) db.run('update queue set sent = sent + 1 where seq = ?', seq)
    },

    /** A batch certainly did not reach the server. */
    unsent(batch: readonly Waiting[]): void {
      const sql = 'update queue set sent = max(sent - 1, 0) where seq = ? and op_id = ?'
      for (const { seq, op_id } of batch) db.run(sql, seq, op_id)
    },

    /** Replaces an unsent operation. */
    rewrite(seq: number, values: Row, base_version: number, before: Row): void {
      const sql =
        'update queue set op_id = ?, data = ?, base_version = ?, before_row = ?, chained = 0, sent = 0 where seq = ?'
      db.run(sql, randomUUID(), JSON.stringify(values), base_version, JSON.stringify(before), seq)
    },

    /** The server assigned an ID to a row: references to the local one are replaced. */
    born(table: TableName, local: number, id: number, remember: boolean): void {
      db.run('update queue set row_id = ? where tbl = ? and row_id = ?', id, table, local)
      if (remember) db.run('insert or replace into ids values (?, ?, ?)', local, table, id)
    },

    /** Rebases the changes that depend on an operation to this version. */
    unchain(table: TableName, row: number, version: number | null): void {
      const sql = 'update queue set base_version = ?, chained = 0 where tbl = ? and row_id = ? and chained = 1'
      // Only the first: later ones depend on it in turn.
      const first = ofRow(table, row).find(({ chained }) => chained)
      if (first) db.run(`${sql} and seq = ?`, version, table, row, first.seq)
    },
  }
}
