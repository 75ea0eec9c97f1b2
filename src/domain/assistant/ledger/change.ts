import { isFileChange, type FileChange } from '../../files/files.ts'
import { isComponentChange, type ComponentChange } from '../../desktop/desktop.ts'
import type { Writer } from '../../../storage/engine/database.ts'
import type { RowChange } from '../../sync/sync.ts'

/** One thing a tool changed, with what is needed to take it back. */
export type Change = FileChange | RowChange | ComponentChange

/** What was changed, in the words of a list: a path, a row, a component. */
export function targetOf(change: Change): string {
  if (isFileChange(change)) return change.kind === 'moved' ? `${change.from} → ${change.path}` : change.path
  if (isComponentChange(change)) return change.component
  return `${change.table} ${change.row}`
}

/** One step of a transaction; says what it changed, in order. */
export type Step = (tx: Writer, now: number) => Promise<Change[]>

/** What one answer changes. Nothing is stored before something was changed. */
export interface ChangeSet {
  /** Its number; undefined while nothing was changed. */
  id(): number | undefined
  /** Makes a change and notes it in one transaction, so that neither is there without the other. */
  change(step: Step): Promise<Change[]>
}
