import type { Accounts } from './accounts/accounts.ts'
import type { Assistant } from './assistant/assistant.ts'
import type { Backups } from './backups/backups.ts'
import type { Chat } from './chat/chat.ts'
import type { Desktop } from './desktop/desktop.ts'
import type { Files, Thumbnails } from './files/files.ts'
import type { Instance } from './instance/instance.ts'
import type { Portability } from './portability/portability.ts'
import type { Rewind } from './rewind/rewind.ts'
import type { Search } from './search/search.ts'
import type { Seeding } from './seed/seed.ts'
import type { Sync } from './sync/sync.ts'

/** The domain: one face per feature. */
export interface Domain {
  accounts: Accounts
  assistant: Assistant
  backups: Backups
  chat: Chat
  desktop: Desktop
  files: Files
  instance: Instance
  portability: Portability
  rewind: Rewind
  search: Search
  seeding: Seeding
  sync: Sync
  thumbnails: Thumbnails
}
