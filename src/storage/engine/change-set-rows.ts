import type { ColumnType } from 'kysely'

type Key = ColumnType<number, number | undefined, never>

/** What one answer of the assistant changed, or one undo. */
export interface ChangeSetRow {
  id: Key
  user_id: number
  conversation_id: number | null
  /** The change set this one took back. */
  undoes: number | null
  created_at: number
}

export interface ChangeSetItemRow {
  id: Key
  change_set_id: number
  kind: string
  /** What was changed, for people: a path, a row, a component. */
  target: string
  /** JSON object: the change whole. */
  data: string
  /** The change set that took this change back. */
  undone_by: number | null
}
