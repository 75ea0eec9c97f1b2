import type { Clock } from '../../base/clock.ts'
import type { BlobStore } from '../../storage/contents/blobs/blobs.ts'
import type { Database } from '../../storage/engine/database.ts'
import type { Audit, Identity } from '../instance/instance.ts'

/** What backups are made with. */
export interface CreateParts {
  database: Database
  blobs: BlobStore
  clock: Clock
  audit: Audit
  identity: Identity
  version: string
  /** Files of the installation beside database and blobs: `config.json` and keys. */
  installation: () => Promise<{ path: string; data: Uint8Array }[]>
  /** Folder for the copy of the database, and for what is noted of the last backup. */
  scratch: string
}
