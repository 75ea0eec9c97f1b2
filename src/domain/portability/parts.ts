import type { Clock } from '../../base/clock.ts'
import type { Contents } from '../../storage/contents/contents.ts'
import type { Database } from '../../storage/engine/database.ts'
import type { Accounts } from '../accounts/accounts.ts'
import type { Files } from '../files/files.ts'
import type { Audit, Identity } from '../instance/instance.ts'

export interface ExportParts {
  database: Database
  contents: Contents
  clock: Clock
  audit: Audit
  identity: Identity
  version: string
}

export interface ImportParts extends Pick<ExportParts, 'database' | 'clock' | 'audit'> {
  accounts: Accounts
  files: Files
  policy: () => Promise<{ defaultQuota: number; maxFileSize: number; allowedOrigins: readonly string[] }>
}
