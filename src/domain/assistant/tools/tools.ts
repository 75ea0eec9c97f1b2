import { fault } from '../../../contract/errors.ts'
import type { Chat } from '../../chat/chat.ts'
import type { Desktop } from '../../desktop/desktop.ts'
import type { Files } from '../../files/files.ts'
import type { Sync } from '../../sync/sync.ts'
import type { ToolsFor } from './tool.ts'
import { changingTools } from './change-files.ts'
import { roomTools, searchMessagesTool } from './chat.ts'
import { desktopTools } from './desktop.ts'
import { fetchTool, type FetchPage } from './fetch-url.ts'
import { readingTools } from './read-files.ts'
import { rowTools } from './rows.ts'
import { commandTool, type Sandbox } from './run-command.ts'
import { searchTool } from './search-files.ts'

interface Parts {
  files: Files
  sync: Sync
  chat: Chat
  desktop: Desktop
  fetchPage: FetchPage
  /** Undefined where no sandbox works or none is wanted; asked anew each time. */
  sandbox: () => Promise<Sandbox | undefined>
}

/** Puts the tools together: all of them for a user who asks, those of one room for somebody who asks in it. */
export function makeTools({ files, sync, chat, desktop, fetchPage, sandbox }: Parts): ToolsFor {
  const always = [
    ...readingTools(files),
    searchTool(files),
    ...changingTools(files),
    ...rowTools(sync),
    searchMessagesTool(chat),
    fetchTool(fetchPage),
    ...desktopTools({ apps: desktop.apps, desktop: files.desktop }),
  ]
  const sealed: Sandbox = {
    async run(job) {
      const present = await sandbox()
      if (!present) throw fault('forbidden', { text: 'Commands are turned off.' })
      return present.run(job)
    },
  }
  const command = commandTool({ desktop: files.desktop, read: files.read }, sealed)
  return async ({ room }) => {
    if (room !== undefined) return roomTools({ chat, desktop: files.desktop }, room)
    return (await sandbox()) ? [...always, command] : always
  }
}
