import type { Clock } from '../../base/clock.ts'
import type { BlobStore } from '../../storage/contents/blobs/blobs.ts'
import type { Database } from '../../storage/engine/database.ts'
import type { Audit, Identity } from '../instance/instance.ts'

export interface BackupContext {
  database: Database
  blobs: BlobStore
  clock: Clock
  audit: Audit
  identity: Identity
  version: string
  /** Files of the installation outside database and blob store: `config.json` and keys. */
  installation: () => Promise<{ path: string; data: Uint8Array }[]>
  /** Folder for the copy of the database and the state of the last backup. */
  scratch: string
}
