import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openLocal } from '../src/wiring/local-domain.ts'
import { makeAccount, withService, type Account } from './account.ts'
import { requestTo, withConnections } from './connection.ts'
import { median, type Figure } from './figure.ts'
import { addPeople } from './people.ts'
import { numbers } from './samples.ts'
import type { Workspace } from './workspace.ts'

const QUESTIONS = 40
const ROUNDS = 7
const MOST_MS = 15

const STREAMS = 50
const PIECES = 40
/** Concurrent answers per user. */
const AT_ONCE = 2

const PATH = '/api/assistant.php'

const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: '1', model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`

const ANSWER = [
  ...numbers(PIECES).map((piece) => chunk({ content: `piece ${piece} ` })),
  chunk({}, 'stop'),
  'data: [DONE]\n\n',
].join('')

/** A model that responds at once; `working` returns its processing time since the last call, ms. */
async function withModel<T>(work: (model: { url: string; working: () => number }) => Promise<T>): Promise<T> {
  let spent = 0
  const server = createServer((request, response) => {
    const start = performance.now()
    request.resume().once('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(ANSWER)
      spent += performance.now() - start
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const working = () => {
    const sum = spent
    spent = 0
    return sum
  }
  try {
    return await work({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, working })
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

/** An account whose server uses a model. */
async function accountWith(workspace: Workspace, url: string): Promise<Account> {
  const account = await makeAccount(workspace)
  const local = await openLocal({ dataDir: account.dataDir, env: {} })
  const { settings } = local.domain.instance
  await settings.store('assistant.base_url', url)
  await settings.store('assistant.chat_model', 'm')
  await settings.store('assistant.models', [{ id: 'm', tools: true, vision: false, context: 32_768 }])
  await local.close()
  return account
}

/** Time added by the server to that of the model: from the question to the complete, stored answer. */
export const assistantOwn: Figure = {
  name: 'assistant-own',
  unit: 'ms',
  peer: "the limit for the median of the server's own part of an answer",
  wanted: { most: 1 },
  measure: (workspace) =>
    withModel(async ({ url: model, working }) => {
      const account = await accountWith(workspace, model)
      const { token } = account
      return withService(workspace, account, ({ url }) =>
        withConnections(url, 1, async ([connection]) => {
          const body = Buffer.from(JSON.stringify({ message: 'What does the engine weave?' }))
          const request = requestTo(url, { method: 'POST', path: PATH, token, type: 'application/json', body })
          const own = async (): Promise<number> => {
            const start = performance.now()
            await connection!.ask(request)
            return performance.now() - start - working()
          }
          const round = async () => {
            const times: number[] = []
            for (const _ of numbers(QUESTIONS)) times.push(await own())
            return median(times)
          }
          await round()
          const ours: number[] = []
          for (const _ of numbers(ROUNDS)) ours.push(await round())
          return { ours, peer: ours.map(() => MOST_MS) }
        }),
      )
    }),
}

/** Complete answers per second while others are streamed. */
export const assistantStreams: Figure = {
  name: 'assistant-streams',
  unit: 'streams',
  peer: `${STREAMS} streams at once, each to its end`,
  wanted: { least: 1 },
  measure: (workspace) =>
    withModel(async ({ url: model }) => {
      const account = await accountWith(workspace, model)
      const people = await addPeople(account.dataDir, STREAMS / AT_ONCE)
      return withService(workspace, account, async ({ url }) => {
        const stream = async (token: string): Promise<boolean> => {
          const reply = await fetch(`${url}${PATH}`, {
            method: 'POST',
            headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
            body: JSON.stringify({ message: 'What does the engine weave?', stream: true }),
          })
          const text = await reply.text()
          return text.split('event: delta').length === PIECES + 1 && text.includes('event: done')
        }
        const ours: number[] = []
        const took: number[] = []
        for (const _ of numbers(ROUNDS)) {
          const start = performance.now()
          const whole = await Promise.all(numbers(STREAMS).map((one) => stream(people[one % people.length]!.token)))
          took.push(performance.now() - start)
          ours.push(whole.filter(Boolean).length)
        }
        const note = `all of them in ${Math.round(median(took))} ms`
        return { ours, peer: ours.map(() => STREAMS), note }
      })
    }),
}
