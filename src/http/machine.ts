/** Whether the service can do its work, with the outcome of each check by its id. */
export interface Readiness {
  ready: boolean
  checks: Record<string, Health>
}

type Health = 'ok' | 'warning' | 'failure'

/** What one check of the installation found, and what to do about it. */
interface Finding {
  id: string
  summary: string
  health: Health
  found: string
  remedy?: string
}

/** A backup in the folder of the backups. */
interface StoredBackup {
  id: string
  /** ISO 8601 UTC. */
  created_at: string
  version: string
  accounts: number
  files: number
  bytes: number
  /** What it added to the folder. */
  added_bytes: number
}

/** What is known of the machine and the folders beside the database; given by whoever starts the server. */
export interface Machine {
  readiness(): Promise<Readiness>
  /** Every check of the installation. */
  examine(): Promise<Finding[]>
  /** Bytes of the disk with the data: all there are, and what may still be written. */
  disk(): Promise<{ total: number; free: number }>
  /** How many backups there are, the newest of them, newest first, and why the folder cannot be read, if so. */
  storedBackups(most: number): Promise<{ count: number; newest: StoredBackup[]; error?: string }>
}
