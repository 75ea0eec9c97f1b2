import type { Clock } from '../base/clock.ts'
import { makeAssistant, type Assistant, type MentionListener } from '../domain/assistant/assistant.ts'
import { makeLedger } from '../domain/assistant/ledger/ledger.ts'
import { makeTools } from '../domain/assistant/tools/tools.ts'
import type { Chat } from '../domain/chat/chat.ts'
import type { Desktop } from '../domain/desktop/desktop.ts'
import type { Files } from '../domain/files/files.ts'
import type { Audit, Settings } from '../domain/instance/instance.ts'
import type { Search } from '../domain/search/search.ts'
import type { Sync } from '../domain/sync/sync.ts'
import type { FetchPage } from '../domain/assistant/tools/fetch-url.ts'
import { makeModels } from '../outside/models.ts'
import type { Database } from '../storage/engine/database.ts'
import { openSandbox } from './command-sandbox.ts'

interface Parts {
  database: Database
  clock: Clock
  settings: Settings
  audit: Audit
  chat: Chat
  desktop: Desktop
  files: Files
  search: Search
  sync: Sync
  mentionListener: MentionListener
  env: NodeJS.ProcessEnv
  checkIntervalMs: number | undefined
}

/** Reads the settings at each fetch, because they name the hosts of the service itself. */
const pageFetcher =
  (settings: Settings): FetchPage =>
  async (url, signal) => {
    const { makePageFetcher } = await import('../outside/fetch-page.ts')
    const { public_url } = await settings.values()
    const ownHosts = public_url === '' ? [] : [new URL(public_url).hostname]
    return makePageFetcher({ ownHosts })(url, signal)
  }

/** The assistant with its connections to the outside. */
export function openAssistant({ env, chat, desktop, files, search, sync, ...parts }: Parts): Assistant {
  const { database, clock, settings } = parts
  const { sandbox } = openSandbox(settings, env)
  return makeAssistant({
    ...parts,
    chat,
    languageModels: makeModels({ ollamaHost: env['OLLAMA_HOST'] }),
    toolsFor: makeTools({ files, sync, chat, search, desktop, fetchPage: pageFetcher(settings), sandbox }),
    ledger: makeLedger({ database, clock, files }),
  })
}
