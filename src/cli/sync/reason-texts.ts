import type { Reason } from '../../client/sync/index.ts'

/** Why an operation is planned. */
export const reasons: Record<Reason, string> = {
  new_here: 'new locally',
  new_there: 'new on the server',
  changed_here: 'changed locally',
  changed_there: 'changed on the server',
  deleted_here: 'deleted locally',
  deleted_there: 'deleted on the server',
  kept_here: 'deleted on the server, but changed locally',
  kept_there: 'deleted locally, but changed on the server',
  both_changed: 'changed on both sides',
  replaced_here: 'replaced locally by something of another kind',
  replaced_there: 'replaced on the server by something of another kind',
  retimed_there: 'other modification time on the server',
  damaged: 'emptied locally by a crash',
  moved_here: 'moved locally',
  moved_there: 'moved on the server',
  moved_apart: 'moved on both sides: the server decides',
}
