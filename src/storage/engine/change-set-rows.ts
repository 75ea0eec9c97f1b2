import type { ColumnType } from 'kysely'

type Key = ColumnType<number, number | undefined, never>

/** The changes of one answer of the assistant, or of one undo. */
export interface ChangeSetRow {
  id: Key
  user_id: number
  conversation_id: number | null
  /** The change set that this one undid. */
  undoes: number | null
  created_at: number
}

export interface ChangeSetItemRow {
  id: Key
  change_set_id: number
  kind: string
  /** What was changed, for display: a path, a row, a component. */
  target: string
  /** JSON object: the complete change. */
  data: string
  undone_by: number | null
}
