import { MINUTE } from '../../base/clock.ts'
import { randomHex } from '../../base/random.ts'
import { ownIdentity, processState, type ProcessIdentity } from '../../host/process-identity.ts'
import type { Reader, Writer } from '../engine/database.ts'
import { putRecord, recordOf } from './backup-records.ts'

// The last command on backups that an administrator started in the browser. The record is in the database, which several servers can share.

/** A job whose record was not renewed for this long has ended without a result. */
const ABANDONED = 2 * MINUTE

export type JobKind = 'create' | 'verify' | 'drill'

export interface JobResult {
  state: 'succeeded' | 'warning' | 'failed' | 'stopped'
  /** The backup that was created or checked. */
  id: string | null
  /** Sentences of the command. */
  messages: string[]
}

export interface BackupJob {
  kind: JobKind
  /** Undefined for all, or the newest. */
  backup?: string | undefined
  /** Name of the administrator. */
  by: string
  /** Epoch ms. */
  started_at: number
  ended_at?: number | undefined
  done_bytes: number
  total_bytes?: number | undefined
  isStopping?: boolean | undefined
  result?: JobResult | undefined
  /** The server that runs the command. */
  server: ProcessIdentity & { token: string; touched_at: number }
}

export const lastJob = (on: Reader): Promise<BackupJob | undefined> => recordOf<BackupJob>(on, 'job')

export const putJob = (tx: Writer, job: BackupJob): Promise<void> => putRecord(tx, 'job', job)

/** Whether the job has no result yet, and its server renews its record. */
export const isJobRunning = ({ result, server }: BackupJob, now: number): boolean =>
  !result && processState(server) !== 'ended' && Math.abs(now - server.touched_at) < ABANDONED

export const jobServer = (now: number): BackupJob['server'] => ({
  ...ownIdentity(),
  token: randomHex(8),
  touched_at: now,
})
