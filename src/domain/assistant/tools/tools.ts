import { fault } from '../../../contract/errors.ts'
import type { Chat } from '../../chat/chat.ts'
import type { Desktop } from '../../desktop/desktop.ts'
import type { Files } from '../../files/files.ts'
import type { Search } from '../../search/search.ts'
import type { Sync } from '../../sync/sync.ts'
import type { ToolsFor } from './tool.ts'
import { changingTools } from './change-files.ts'
import { roomTools, searchMessagesTool } from './chat-tools.ts'
import { desktopTools } from './desktop-tools.ts'
import { fetchTool, type FetchPage } from './fetch-url.ts'
import { readingTools } from './read-files.ts'
import { rowTools } from './row-tools.ts'
import { commandTool, type Sandbox } from './run-command.ts'
import { searchEverythingTool } from './search-everything.ts'
import { searchTool } from './search-files.ts'

interface Deps {
  files: Files
  sync: Sync
  chat: Chat
  search: Search
  desktop: Desktop
  fetchPage: FetchPage
  /** The sandbox; undefined if none works or commands are turned off. Queried for each use. */
  sandbox: () => Promise<Sandbox | undefined>
}

/** All tools for a user's question, the tools of one room for a mention. */
export function makeTools({ files, sync, chat, search, desktop, fetchPage, sandbox }: Deps): ToolsFor {
  const always = [
    ...readingTools(files),
    searchEverythingTool(search),
    searchTool(files),
    ...changingTools(files),
    ...rowTools(sync),
    searchMessagesTool(chat),
    fetchTool(fetchPage),
    ...desktopTools({ apps: desktop.apps, desktop: files.desktop }),
  ]
  const currentSandbox: Sandbox = {
    async run(job) {
      const available = await sandbox()
      if (!available) throw fault('forbidden', { text: 'Commands are turned off.' })
      return available.run(job)
    },
  }
  const command = commandTool({ desktop: files.desktop, read: files.read }, currentSandbox)
  return async ({ room }) => {
    if (room !== undefined) return roomTools({ chat, desktop: files.desktop }, room)
    return (await sandbox()) ? [...always, command] : always
  }
}
