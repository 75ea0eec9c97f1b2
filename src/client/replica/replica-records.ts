import type { TableName } from '../../contract/tables.ts'
import type { Row } from '../rows/row-values.ts'

export type Verb = 'INSERT' | 'UPDATE' | 'DELETE'

/** A requested change of a row. */
export interface Change {
  table: TableName
  verb: Verb
  /** Missing for INSERT. */
  row?: number
  /** Columns, without `id`. */
  values: Row
  /** An ID chosen by the caller: the operation is then sent unchanged, not merged with others or based on a version. */
  op_id?: string
  /** The version that the caller requires. */
  base_version?: number
}

/** A local change that the server has not confirmed yet. */
export interface Waiting {
  /** Position in the queue; never reused. */
  seq: number
  op_id: string
  table: TableName
  verb: Verb
  /** Negative until the server has assigned an ID. */
  row: number
  values: Row
  /** The version it is based on; null for any. */
  base_version: number | null
  /** Whether that version results from an earlier change in the queue. */
  chained: boolean
  /** The row before the change, to tell which side changed what. Null for INSERT, and if unknown. */
  before: Row | null
  /** Whether the caller chose the operation's ID, so that it must be sent unchanged. */
  fixed: boolean
  /** Whether the caller requires `base_version`. */
  strict: boolean
  /** Whether it may have reached the server: then it is repeated unchanged or not at all. */
  sent: boolean
  /** Epoch ms. */
  at: number
}

/** A change that needs a decision: a conflict in the same columns, or a permanent rejection. */
export interface RejectedChange {
  id: number
  kind: 'conflict' | 'refused'
  op_id: string
  table: TableName
  verb: Verb
  row: number
  /** The requested values. */
  mine: Row
  before: Row | null
  /** The server's row at that time. */
  theirs: Row | null
  code: string
  message: string
  /** Epoch ms. */
  at: number
}

export interface ServerRow extends Row {
  id: number
}

/** A position in the feed, and its epoch. */
export interface Place {
  cursor: number
  epoch: string
  /** When the server last confirmed it, epoch ms. */
  asked: number
}

export interface RowChange {
  table: string
  row: ServerRow
  deleted: boolean
  cursor: number
}

/** A validated page of the feed. */
export interface Page {
  changes: RowChange[]
  cursor: number
  epoch: string
  server_id: string
  more: boolean
}

/** All rows of the account, validated. */
export interface Everything {
  rows: Map<string, ServerRow[]>
  cursor: number
  epoch: string
  server_id: string
}
