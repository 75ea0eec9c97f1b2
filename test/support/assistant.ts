import { assistant } from '../../src/contract/assistant.ts'
import type { AssistantEvents } from '../../src/contract/assistant.ts'
import type { Answer, Params } from '../../src/contract/define.ts'
import type { Account } from './account.ts'
import { modelServerOfTest, type ModelServer, type ModelServerOptions } from './model-server.ts'
import type { Reply } from './request.ts'
import { serverOfTest, type ServerOptions, type TestServer } from './server.ts'

export type Answered = Answer<typeof assistant.actions.ask>
type Question = Params<typeof assistant.actions.ask>

/** Configures a model with function calls on a server. */
export async function useModel(server: TestServer, { url }: { url: string }, more: object = {}): Promise<void> {
  const settings = {
    'assistant.base_url': url,
    'assistant.chat_model': 'talker',
    'assistant.models': [{ id: 'talker', tools: true, vision: false, context: 32_768 }],
    ...more,
  }
  for (const [name, value] of Object.entries(settings)) await server.set(name as never, value)
}

export interface Stage {
  server: TestServer
  model: ModelServer
  ada: Account
}

/** A server with a scripted model, and a user. */
export async function stage({
  settings,
  model: options,
  ...more
}: ServerOptions & { settings?: object; model?: ModelServerOptions } = {}): Promise<Stage> {
  const model = await modelServerOfTest(options)
  const server = await serverOfTest(more)
  await useModel(server, model, settings)
  return { server, model, ada: await server.account() }
}

export const askFor = (account: Account, question: Question): Promise<Answered> =>
  account.ask(assistant.actions.ask, question)

export type Told = { [E in keyof AssistantEvents]: { event: E; data: AssistantEvents[E] } }[keyof AssistantEvents]

/** The events of an ended stream. */
export const eventsOf = ({ bytes }: Reply): Told[] =>
  bytes
    .toString()
    .split('\n\n')
    .filter((block) => block.startsWith('event: '))
    .map((block) => {
      const [, event, data] = /^event: (\w+)\ndata: (.*)$/.exec(block)!
      return { event, data: JSON.parse(data!) as unknown } as Told
    })
