import type { Static } from 'typebox'
import { Check } from 'typebox/value'
import { isFault } from '../../../src/contract/errors.ts'
import type { ChangeSet } from '../../../src/domain/assistant/ledger/recorded-change.ts'
import { makeLedger, type Ledger } from '../../../src/domain/assistant/ledger/ledger.ts'
import type { Tool, ToolResult } from '../../../src/domain/assistant/tools/tool.ts'
import type { FetchPage } from '../../../src/domain/assistant/tools/fetch-url.ts'
import type { Sandbox } from '../../../src/domain/assistant/tools/run-command.ts'
import { makeTools } from '../../../src/domain/assistant/tools/tools.ts'
import type { Account } from '../../support/account.ts'
import type { TestServer } from '../../support/server.ts'

export interface Session {
  changeSet: ChangeSet
  tools: Tool[]
  /** Calls a tool as the pipeline does: the arguments fit what it declares, and a fault is a text. */
  use(name: string, args?: Record<string, unknown>): Promise<ToolResult & { untrusted?: boolean; fault?: string }>
}

export interface Bench {
  ledger: Ledger
  session(account: Account, more?: { room?: number; signal?: AbortSignal }): Promise<Session>
}

const noPage: FetchPage = () => Promise.reject(new Error('No page was expected.'))

/** The tools and the ledger on a server, with what lies outside it replaced. */
export function benchOn(
  { local, database, clock }: TestServer,
  { fetchPage = noPage, sandbox }: { fetchPage?: FetchPage; sandbox?: Sandbox } = {},
): Bench {
  const { files, sync, chat, search, desktop } = local.domain
  const ledger = makeLedger({ database, clock, files })
  const toolsFor = makeTools({
    files,
    sync,
    chat,
    search,
    desktop,
    fetchPage,
    sandbox: () => Promise.resolve(sandbox),
  })
  return {
    ledger,
    async session({ id, username }, { room, signal = new AbortController().signal } = {}) {
      const account = { id, username, display_name: username, avatar_color: '#336699', role: 'user' as const }
      const tools = await toolsFor(room === undefined ? {} : { room })
      const changeSet = ledger.open({ account, conversation: undefined })
      return {
        changeSet,
        tools,
        async use(name, args = {}) {
          const tool = tools.find((each) => each.name === name)
          if (!tool) throw new Error(`There is no tool ${name}.`)
          if (!Check(tool.parameters, args)) return { text: 'The arguments do not fit.', fault: 'arguments' }
          const call = { account, conversation: undefined, changeSet, signal, ...(room !== undefined && { room }) }
          try {
            const { untrusted } = tool
            return {
              ...(await tool.run(call, args as Static<typeof tool.parameters>)),
              ...(untrusted && { untrusted }),
            }
          } catch (error) {
            if (isFault(error)) return { text: error.message, fault: error.code }
            throw error
          }
        },
      }
    },
  }
}
