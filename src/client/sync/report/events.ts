import type { Ignored, Skipped } from '../plan/sync-tree.ts'
import type { LeftItem, Step } from '../undo/undo-plan.ts'
import type { Done } from '../run-context.ts'

export type NoticeCode =
  | 'state_lost'
  | 'state_foreign'
  | 'server_restored'
  | 'recovered'
  | 'ignored'
  | 'rules_change'
  | 'rows_damaged'
  | 'rows_unsound'
  | 'rows_waiting'

export interface RowTally {
  sent: number
  received: number
  /** Changes that the server does not have yet. */
  waiting: number
  /** Changes that need a decision: `svc sync conflicts`. */
  conflicts: number
  refused: number
  /** How many of these came with this run. */
  new_rejected: number
}

/** An operation of a plan, with the bytes it would transfer. */
export type Planned = Done

/** Progress of a plan's transfers. */
export interface Progress {
  files: number
  of_files: number
  bytes: number
  of_bytes: number
  /** Completed share, from 0 to 1. */
  part: number
  /** Null while unknown. */
  seconds_left: number | null
  /** The limit that slows the run down, if any: requests per number of seconds. */
  limited_by: { limit: string; max: number; per: number } | null
}

export type SyncEvent =
  | { event: 'started'; root: string; url: string; username: string; dry_run: boolean }
  | { event: 'notice'; code: NoticeCode; message: string }
  /** `seconds` is the minimum duration because of the server's limits. */
  | ({ event: 'planned'; transfers: number; bytes: number; deletions: number; seconds: number } & Pick<
      Progress,
      'limited_by'
    >)
  | ({ event: 'plan' } & Planned)
  | ({ event: 'done' } & Done)
  | ({ event: 'skipped'; message: string } & Skipped)
  /** Ignored paths of either side, with their rules; in a dry run only. */
  | ({ event: 'ignored' } & Ignored)
  | ({ event: 'rows' } & RowTally)
  /** An undo step, planned or done; `side` is the side of a removed copy, `from` the source of a move. */
  | ({ event: 'undo' } & Undone)
  /** An item that an undo does not change. */
  | ({ event: 'left'; message: string } & LeftItem)
  | { event: 'waiting'; limit: string; ms: number }
  /** The server is unavailable; the run is repeated until this time, in milliseconds since the epoch. */
  | { event: 'retrying'; until: number; message: string }
  /** The run failed or was interrupted after it had done this. */
  | ({ event: 'stopped' } & Changes)
  | ({ event: 'progress' } & Progress)

/** How one change of a run is undone. */
export interface Undone {
  do: Step['do']
  path: string
  /** What the run, or the undo, did to it. */
  did: Step['by']
  side?: 'here' | 'there'
  /** Where a moved item returns to. */
  to?: string
}

export interface UndoSummary {
  /** When the undone run was, in milliseconds since the epoch; null if there is none. */
  run_at: number | null
  /** Whether that run was an undo itself. */
  of_undo: boolean
  done: number
  left: (LeftItem & { message: string })[]
}

/** Why a run failed. */
export interface Failure {
  /** Milliseconds since the epoch. */
  at: number
  message: string
}

export interface Changes {
  uploaded: { files: number; bytes: number }
  downloaded: { files: number; bytes: number }
  removed_here: number
  removed_there: number
  /** Files and folders that were renamed instead of transferred. */
  moved_here: number
  moved_there: number
  /** Folders created on either side, without those created by a file. */
  folders: number
  conflicts: { path: string; copy: string }[]
}

/** The result of a run. */
export interface Summary extends Changes {
  root: string
  dry_run: boolean
  skipped: (Skipped & { message: string })[]
  /** Rows of the synchronised tables; missing if they were not checked. */
  rows?: RowTally
  /** Whether both sides are now equal, as far as this run could tell. */
  in_sync: boolean
  requests: number
  /** Local files that were read to know their content. */
  hashed: number
  took_ms: number
  /** Links and special files that an earlier run reported as skipped. */
  left_out: Skipped[]
  /** Of an undo only. */
  undo?: UndoSummary
  /** Why a real run would stop beforehand; in a dry run only. */
  refused?: { reason: string; message: string }
}
