// The face of the sync engine: everything else imports only this file.

export { listFileConflicts, resolveFileConflict, type Choice, type FileConflict, type Side } from './conflicts.ts'
export type { MaxDelete } from './plan/deletion-guard.ts'
export type { Reason } from './plan/plan-builder.ts'
export { makeReplicaWatch } from './replica-watch.ts'
export type { Changes, Planned, Progress, Summary, SyncEvent, Undone } from './report/events.ts'
export { runSync } from './sync-run.ts'
export { findRoot, findRoots, initRoot, listRoots } from './state/root.ts'
export { readStatus, type Status } from './status.ts'
export { Changed } from './sync-errors.ts'
export { waitUntilInSync, type WaitResult } from './sync-wait.ts'
export { lockWatched, watchRoots, type WatchEvent } from './watch.ts'
