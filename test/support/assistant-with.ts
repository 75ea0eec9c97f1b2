import { Type } from 'typebox'
import { makeAssistant } from '../../src/domain/assistant/assistant.ts'
import { BOUNDS, type Bounds } from '../../src/domain/assistant/tools/tool-calls.ts'
import { makeLedger } from '../../src/domain/assistant/ledger/ledger.ts'
import type { Emit } from '../../src/domain/assistant/run.ts'
import type { Tool, ToolResult } from '../../src/domain/assistant/tools/tool.ts'
import { makeModels } from '../../src/outside/models.ts'
import type { Told } from './assistant.ts'
import type { Account } from './account.ts'
import type { TestServer } from './server.ts'

/** A tool with one text argument, implemented by the test. */
export const toolNamed = (
  name: string,
  effect: Tool['effect'],
  run: (what: string, signal: AbortSignal) => ToolResult | Promise<ToolResult>,
  { untrusted = false } = {},
): Tool => ({
  name,
  description: `Does ${name}.`,
  parameters: Type.Object({ what: Type.String({ maxLength: 100 }) }),
  effect,
  untrusted,
  run: async ({ signal }, args) => run((args as { what: string }).what, signal),
})

/** The assistant of a server, with the tools of a test. */
export function assistantWith(
  { local, database, clock }: TestServer,
  tools: readonly Tool[],
  bounds: Partial<Bounds> = {},
) {
  const { instance, files, chat } = local.domain
  const assistant = makeAssistant({
    database,
    clock,
    settings: instance.settings,
    audit: instance.audit,
    languageModels: makeModels(),
    toolsFor: () => Promise.resolve([...tools]),
    ledger: makeLedger({ database, clock, files }),
    chat,
    mentionListener: {
      isFor: () => Promise.resolve(false),
      record: () => Promise.resolve(false),
      committed() {},
      onMention() {},
    },
    bounds: { ...BOUNDS, ...bounds },
  })
  const told: Told[] = []
  const emit: Emit = (event, data) => void told.push({ event, data } as Told)
  const by = ({ id, username }: Account) =>
    ({ id, username, display_name: username, avatar_color: '#336699', role: 'user' }) as const
  return {
    assistant,
    /** Emitted events. */
    told,
    ask: (account: Account, message: string, more: object = {}, signal = new AbortController().signal) =>
      assistant.ask(by(account), { message, ...more }, { signal, emit }),
    confirm: (account: Account, confirmation_id: string, allow: boolean) =>
      assistant.confirm(by(account), { confirmation_id, allow }, { signal: new AbortController().signal, emit }),
  }
}
