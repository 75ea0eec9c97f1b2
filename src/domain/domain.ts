import type { Accounts } from './accounts/accounts.ts'
import type { Files } from './files/files.ts'
import type { Instance } from './instance/instance.ts'
import type { Sync } from './sync/sync.ts'

/** What svc does, without HTTP, terminal or environment: one face per feature. */
export interface Domain {
  accounts: Accounts
  files: Files
  instance: Instance
  sync: Sync
}
