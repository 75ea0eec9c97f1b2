import { isFileChange, type FileChange } from '../../files/files.ts'
import { isComponentChange, type ComponentChange } from '../../desktop/desktop.ts'
import type { Writer } from '../../../storage/engine/database.ts'
import type { RowChange } from '../../sync/sync.ts'

/** One change made by a tool, with the data to undo it. */
export type Change = FileChange | RowChange | ComponentChange

export function targetOf(change: Change): string {
  if (isFileChange(change)) return change.kind === 'moved' ? `${change.from} → ${change.path}` : change.path
  if (isComponentChange(change)) return change.component
  return `${change.table} ${change.row}`
}

/** A step of a transaction; returns its changes in order. */
export type Step = (tx: Writer, now: number) => Promise<Change[]>

/** The changes of one answer; stored with the first change. */
export interface ChangeSet {
  /** Its id; undefined before the first change. */
  id(): number | undefined
  /** Makes a change and records it in the same transaction. */
  change(step: Step): Promise<Change[]>
}
