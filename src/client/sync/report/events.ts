import type { Reason } from '../plan/plan-builder.ts'
import type { Ignored, Skipped } from '../plan/tree.ts'
import type { LeftAlone, Step } from '../undo/plan-undo.ts'
import type { Done } from '../run-context.ts'

/** Something about a run that a person should know, beside what it does. */
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

/** Rows sent and received by a run, and their state after it. */
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

export interface Planned {
  op: Done['op']
  path: string
  reason?: Reason
  size?: number
  copy?: string
  to?: string
  files?: number
}

/** How far the transfers of a plan are. */
export interface Progress {
  files: number
  of_files: number
  bytes: number
  of_bytes: number
  /** Share of the work that is done, from 0 to 1. */
  part: number
  /** Null as long as nothing can be said. */
  seconds_left: number | null
  /** The limit of the server that makes it last, if one does: requests in so many seconds. */
  limited_by: { limit: string; max: number; per: number } | null
}

/** Events of a run. */
export type SyncEvent =
  | { event: 'started'; root: string; url: string; username: string; dry_run: boolean }
  | { event: 'notice'; code: NoticeCode; message: string }
  /** `seconds` is how long the server's limits make it last, at least. */
  | ({ event: 'planned'; transfers: number; bytes: number; deletions: number; seconds: number } & Pick<
      Progress,
      'limited_by'
    >)
  | ({ event: 'plan' } & Planned)
  | ({ event: 'done' } & Done)
  | ({ event: 'skipped'; message: string } & Skipped)
  /** What rules ignore on either side, with the rule; of a dry run only. */
  | ({ event: 'ignored' } & Ignored)
  | ({ event: 'rows' } & RowTally)
  /** What an undo would do, or did; `side` is where a copy goes, `from` where a move began. */
  | ({ event: 'undo' } & Undone)
  /** What an undo leaves as it is. */
  | ({ event: 'left'; message: string } & LeftAlone)
  | { event: 'waiting'; limit: string; ms: number }
  | ({ event: 'progress' } & Progress)

/** How one change of a run is undone. */
export interface Undone {
  do: Step['do']
  path: string
  /** What the run, or the undo, did to it. */
  did: Step['by']
  side?: 'here' | 'there'
  /** Where something moved goes back to. */
  to?: string
}

/** The result of an undo. */
export interface UndoSummary {
  /** When the undone run was, in milliseconds since the epoch; null when there is none. */
  run_at: number | null
  /** Whether that run was an undo itself. */
  of_undo: boolean
  done: number
  left: (LeftAlone & { message: string })[]
}

/** Why a run ended before its end. */
export interface Failure {
  /** Milliseconds since the epoch. */
  at: number
  message: string
}

/** The result of a run. */
export interface Summary {
  root: string
  dry_run: boolean
  uploaded: { files: number; bytes: number }
  downloaded: { files: number; bytes: number }
  removed_here: number
  removed_there: number
  /** Files and folders that were renamed instead of being transferred. */
  moved_here: number
  moved_there: number
  /** Folders that were made, on either side, beside those that came with a file. */
  folders: number
  conflicts: { path: string; copy: string }[]
  skipped: (Skipped & { message: string })[]
  /** Rows of the synchronised tables; missing where they were not looked at. */
  rows?: RowTally
  /** Whether both sides hold the same now, as far as this run could see. */
  in_sync: boolean
  requests: number
  /** Local files that were read to know their content. */
  hashed: number
  took_ms: number
  /** Of an undo only. */
  undo?: UndoSummary
  /** Why a real run would stop before it did anything; of a dry run only. */
  refused?: { reason: string; message: string }
}
