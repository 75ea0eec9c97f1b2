import { createHash } from 'node:crypto'
import { isWritable, tables, type TableName } from '../../contract/tables.ts'
import { columnsOf, type Row } from '../rows/row-values.ts'
import type { Base } from './replica-base.ts'
import type { RejectedChanges } from './rejected-changes.ts'
import { isSame } from './row-merge.ts'
import type { Queue } from './change-queue.ts'
import type { Everything, ServerRow } from './replica-records.ts'

interface Parts {
  base: Base
  queue: Queue
  rejected: RejectedChanges
}

const MESSAGE = 'The server was restored from a backup, in which the row is older than on this machine.'

/** The same on every device of the account, so that only one of them restores a row. */
function opFor(epoch: string, table: string, id: number): string {
  const hex = createHash('sha256').update(`restored\n${epoch}\n${table}\n${id}`).digest('hex')
  const variant = '89ab'[parseInt(hex[16]!, 16) & 3]
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

const ownColumns = (table: TableName, row: Row): Row =>
  Object.fromEntries(columnsOf(table).flatMap((name) => (name in row ? [[name, row[name]]] : [])))

/**
 * Compares rows with a restored server. Missing rows are not deletions: they are queued as new, newer values become
 * conflicts, and the queue is rebased. Called within a transaction; the caller replaces the rows afterwards.
 */
export function mergeAfterRestore({ base, queue, rejected }: Parts, { rows, epoch }: Everything, now: number): void {
  // Earlier versions are meaningless now, even if the number is equal by chance.
  for (const waiting of queue.all()) {
    if (waiting.verb === 'INSERT' || waiting.fixed || waiting.chained) continue
    queue.rewrite(waiting.seq, waiting.values, 0, waiting.before ?? {})
  }
  for (const table of Object.keys(tables)) {
    if (!isWritable(table)) continue
    const there = new Map(rows.get(table)?.map((row) => [row.id, row]))
    for (const row of base.rows(table)) {
      const theirs = there.get(row.id)
      if (!theirs) queueLost(table, row)
      else if (Number(row['version']) > Number(theirs['version'])) compare(table, row, theirs)
    }
  }

  function queueLost(table: TableName, row: ServerRow): void {
    const earlier = queue.ofRow(table, row.id)
    // The user deleted it, so its loss on the server is fine.
    if (earlier.some(({ verb }) => verb === 'DELETE')) return earlier.forEach(({ seq }) => queue.remove(seq))
    const op_id = opFor(epoch, table, row.id)
    if (queue.byOp(op_id)) return
    const changed = earlier.reduce<Row>((sum, { values }) => ({ ...sum, ...values }), {})
    for (const { seq } of earlier) queue.remove(seq)
    const local = queue.nextLocalId()
    queue.insert({
      op_id: Object.keys(changed).length > 0 ? crypto.randomUUID() : op_id,
      table,
      verb: 'INSERT',
      row: local,
      values: { ...ownColumns(table, row), ...changed },
      base_version: null,
      chained: false,
      before: null,
      fixed: true,
      strict: false,
      sent: false,
      at: now,
    })
  }

  function compare(table: TableName, row: ServerRow, theirs: ServerRow): void {
    const mine = Object.entries(ownColumns(table, row)).filter(([name, value]) => !isSame(value, theirs[name]))
    if (mine.length === 0 || queue.ofRow(table, row.id).length > 0) return
    const [verb, kind, code] = ['UPDATE', 'conflict', 'server_restored'] as const
    const op_id = opFor(epoch, table, row.id)
    if (rejected.byOp(op_id)) return
    rejected.add({
      kind,
      op_id,
      table,
      verb,
      row: row.id,
      mine: Object.fromEntries(mine),
      before: null,
      theirs,
      code,
      message: MESSAGE,
      at: now,
    })
  }
}
