import type { TableName } from '../../contract/tables.ts'
import type { Row } from '../row-values.ts'

export type Verb = 'INSERT' | 'UPDATE' | 'DELETE'

/** What somebody wants done to a row. */
export interface Change {
  table: TableName
  verb: Verb
  /** Missing for INSERT. */
  row?: number
  /** Columns, without `id`. */
  values: Row
  /** An id of the caller's making: the operation is then sent exactly as it is, and neither joined with others nor based on a version. */
  op_id?: string
  /** The version that the caller insists on. */
  base_version?: number
}

/** A change made here that the server has not confirmed yet. */
export interface Waiting {
  /** Its place in the queue; never given twice. */
  seq: number
  op_id: string
  table: TableName
  verb: Verb
  /** Negative as long as the server has given the row no id. */
  row: number
  values: Row
  /** The version it is based on; null where it is for any. */
  base_version: number | null
  /** Whether that version is the one an earlier change in the queue will make. */
  chained: boolean
  /** The row as it stood here before: it tells which side changed what. Null for INSERT, and where nothing was known. */
  before: Row | null
  /** Whether its id, and with it what is sent, is the caller's. */
  fixed: boolean
  /** Whether the caller insists on `base_version`. */
  strict: boolean
  /** Whether it may have reached the server: then it is sent again as it is, or not at all. */
  sent: boolean
  /** Milliseconds since the epoch. */
  at: number
}

/** A change that needs a decision: the server's row was changed in the same columns, or it refused the change for good. */
export interface RejectedChange {
  id: number
  kind: 'conflict' | 'refused'
  op_id: string
  table: TableName
  verb: Verb
  row: number
  /** What was wanted here. */
  mine: Row
  before: Row | null
  /** The server's row at that time. */
  theirs: Row | null
  code: string
  message: string
  /** Milliseconds since the epoch. */
  at: number
}

/** A row of the server. */
export interface ServerRow extends Row {
  id: number
}

/** A position in the feed, and which feed it is. */
export interface Place {
  cursor: number
  epoch: string
  /** When the server last confirmed it, in milliseconds since the epoch. */
  asked: number
}

export interface RowChange {
  table: string
  row: ServerRow
  deleted: boolean
  cursor: number
}

/** A checked page of the feed. */
export interface Page {
  changes: RowChange[]
  cursor: number
  epoch: string
  server_id: string
  more: boolean
}

/** Every row of the account, checked. */
export interface Everything {
  rows: Map<string, ServerRow[]>
  cursor: number
  epoch: string
  server_id: string
}
