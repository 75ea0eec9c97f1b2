import type { Clock } from '../../base/clock.ts'
import type { Hasher } from '../../host/hasher.ts'
import type { Api } from '../api.ts'
import type { Op, Reason } from './plan/plan-builder.ts'
import type { Capabilities } from './remote/capabilities.ts'
import type { Throttle } from '../http/throttle.ts'
import type { Limits } from '../http/rate-limiter.ts'
import type { CommitBatcher } from './state/commit-batcher.ts'
import type { Part, State } from './state/store.ts'
import type { RemoteNode, Tree } from './plan/tree.ts'

/** What an operation did, for the report. */
export interface Done {
  op: Exclude<Op['op'], 'record' | 'forget' | 'move-base'>
  path: string
  reason?: Reason
  /** Bytes transferred. */
  size?: number
  /** Where a conflict copy is. */
  copy?: string
  /** Where it was moved to. */
  to?: string
  /** Files that were moved with a folder. */
  files?: number
}

/** What all operations of one run work with. */
export interface RunContext {
  /** Absolute path of the synchronised folder. */
  root: string
  api: Api
  throttle: Throttle
  limits: () => Limits
  capabilities: Capabilities
  clock: Clock
  /** Makes the checksums of large files. */
  hasher: Hasher
  signal: AbortSignal
  state: State
  commit: CommitBatcher
  /** Large files of which a part is here already, by key. */
  parts: Map<string, Part>
  /** Names this run in the trash. */
  run: string
  /** Whether operations are journaled, so that the run can be undone. */
  journaling: boolean
  device: string
  /** `YYYY-MM-DD` */
  date: string
  /** The account as it is known now: operations keep it up to date, so that it need not be asked for again. */
  remote: Tree<RemoteNode>
  /** Keys that base has, so that folders are recorded once. */
  known: Set<string>
  /** Throws `Refused` when the folder is not the one the run began with. */
  assertRoot: () => void
  onDone: (done: Done) => void
  /** Operations that fell out of their batch and are sent one by one. */
  onUnbatched: (ops: readonly Op[]) => void
  /** Bytes that went over the wire, as they go; negative for those that went in vain. */
  onBytes: (count: number) => void
}
