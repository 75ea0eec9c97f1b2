import type { Clock } from '../../base/clock.ts'
import type { Hasher } from '../../host/hasher.ts'
import type { Api } from '../api.ts'
import type { Op, Reason } from './plan/plan-builder.ts'
import type { Capabilities } from './remote/capabilities.ts'
import type { Throttle } from '../http/throttle.ts'
import type { Limits } from '../http/rate-limiter.ts'
import type { CommitBatcher } from './state/commit-batcher.ts'
import type { Part, State } from './state/sync-state.ts'
import type { RemoteNode, Tree } from './plan/sync-tree.ts'

/** The result of an operation, for the report. */
export interface Done {
  op: Exclude<Op['op'], 'record' | 'forget' | 'move-base'>
  path: string
  reason?: Reason
  /** Bytes transferred. */
  size?: number
  copy?: string
  to?: string
  /** Files that were moved with a folder. */
  files?: number
}

/** Dependencies of all operations of a run. */
export interface RunContext {
  /** Absolute path of the synchronised folder. */
  root: string
  api: Api
  throttle: Throttle
  limits: () => Limits
  capabilities: Capabilities
  clock: Clock
  /** Hashes large files. */
  hasher: Hasher
  signal: AbortSignal
  state: State
  commit: CommitBatcher
  /** Partially downloaded large files, by key. */
  parts: Map<string, Part>
  /** Name of this run's folder in the trash. */
  run: string
  /** Whether operations are journalled, so that the run can be undone. */
  journaling: boolean
  device: string
  /** `YYYY-MM-DD` */
  date: string
  /** The known state of the account: operations update it, so that it need not be listed again. */
  remote: Tree<RemoteNode>
  /** Keys in base, so that folders are recorded once. */
  known: Set<string>
  /** Throws `Refused` if the folder is no longer the one that the run started with. */
  assertRoot: () => void
  onDone: (done: Done) => void
  /** Operations that fell out of their batch and are sent one by one. */
  onUnbatched: (ops: readonly Op[]) => void
  /** Transferred bytes; negative to revert those of failed transfers. */
  onBytes: (count: number) => void
}
