import type { JobRequest } from '../domain/backups/backups.ts'
import type { AuditActor } from '../domain/instance/instance.ts'

/** Whether the service is ready, with the result of each check by ID. */
export interface Readiness {
  ready: boolean
  checks: Record<string, Health>
}

type Health = 'ok' | 'warning' | 'failure'

/** Result of one check, with a remedy if it failed. */
interface Finding {
  id: string
  summary: string
  health: Health
  found: string
  remedy?: string
}

/** A backup in the repository. */
interface StoredBackup {
  id: string
  /** ISO 8601, UTC. */
  created_at: string
  version: string
  accounts: number
  files: number
  bytes: number
  /** Bytes that this backup added to the repository. */
  added_bytes: number
}

interface BackupStream {
  place: string
  /** Until when changes are stored, epoch ms; null before the first. */
  at: number | null
  problem: string | null
  isRunning: boolean
}

/** A number that `/metrics` reports. */
export interface Measurement {
  /** A name that ends with `_total` is that of a counter: it only grows while the process runs. Others are gauges. */
  name: string
  help: string
  read(): number | Promise<number>
}

/** Information about the host and its folders, provided by the floor that starts the server. */
export interface HostStatus {
  readiness(): Promise<Readiness>
  measurements: readonly Measurement[]
  /** Runs every check of `svc doctor`. */
  examine(): Promise<Finding[]>
  /** Total and free bytes of the disk that holds the data directory. */
  disk(): Promise<{ total: number; free: number }>
  /** The stream of changes to the backups; undefined if there is none. */
  backupStream(): Promise<BackupStream | undefined>
  /** Starts a command on the backups of a place. Fault: `conflict` while another one runs. */
  startBackupJob(
    request: JobRequest,
    options: { place: string; passphrase: string | undefined; actor: AuditActor },
  ): Promise<void>
  /** The number of backups, the newest of them in descending order, and an error if the repository cannot be read. */
  storedBackups(max: number): Promise<{ count: number; newest: StoredBackup[]; error?: string | undefined }>
}
