import type { Reason } from '../../client/sync/index.ts'

/** Why an operation is planned, in words for people. */
export const reasons: Record<Reason, string> = {
  new_here: 'new here',
  new_there: 'new on the server',
  changed_here: 'changed here',
  changed_there: 'changed on the server',
  deleted_here: 'deleted here',
  deleted_there: 'deleted on the server',
  kept_here: 'deleted on the server, but changed here',
  kept_there: 'deleted here, but changed on the server',
  both_changed: 'changed on both sides',
  replaced_here: 'replaced here by something of another kind',
  replaced_there: 'replaced on the server by something of another kind',
  retimed_there: 'other modification time on the server',
  damaged: 'emptied here by a crash',
  moved_here: 'moved here',
  moved_there: 'moved on the server',
  moved_apart: 'moved on both sides: the server decides',
}
