import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

// A scripted model server with the streaming protocols of OpenAI (chat completions) and Anthropic (messages), and with
// the model list of Ollama.

/** A function call of the model, possibly without a name; text arguments are sent unchanged. */
interface ScriptedCall {
  name?: string | null
  id?: string
  arguments: object | string
}

export interface Scripted {
  text?: string
  /** The text in these pieces. */
  pieces?: readonly string[]
  calls?: readonly ScriptedCall[]
  /** Responds with this status instead. */
  status?: number
  headers?: Record<string, string>
  /** Sent unchanged with status 200, instead of a stream. */
  raw?: string
  /** Ends the connection after the text. */
  cut?: boolean
  /** Sends the text and then nothing, until the client disconnects. */
  hang?: boolean
  /** Awaited before the end. */
  until?: Promise<unknown>
  /** More pieces of the text after the wait (OpenAI only). */
  late?: readonly string[]
}

export interface Heard {
  path: string
  headers: IncomingMessage['headers']
  model: string
  /** The messages as received, for either protocol. */
  messages: { role: string; content: unknown }[]
  tools: string[]
  body: Record<string, unknown>
}

export interface ModelServer {
  /** The value of `assistant.base_url` for OpenAI's protocol. */
  url: string
  /** The same for Anthropic's. */
  anthropic: string
  host: string
  /** All requests so far. */
  heard: Heard[]
  /** The next responses, in order; the default is `Hello.`. */
  will(...replies: (Scripted | ((heard: Heard) => Scripted))[]): void
  /** Requests that the client aborted before the response was complete. */
  left(): number
  close(): Promise<void>
}

export interface ModelServerOptions {
  /** Listed models with their properties. */
  models?: Record<string, object>
  /** Ollama models by name, with the response of `/api/show`. */
  ollama?: Record<string, object>
}

const event = (data: unknown, name?: string) => `${name ? `event: ${name}\n` : ''}data: ${JSON.stringify(data)}\n\n`
const textOf = (call: ScriptedCall) =>
  typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments)
const piecesOf = ({ text, pieces }: Scripted) => pieces ?? (text === undefined ? [] : (text.match(/[^]{1,7}/gu) ?? []))

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return chunks.length === 0 ? {} : (JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>)
}

function* asOpenAi(reply: Scripted, model: string): Generator<string> {
  const chunk = (delta: object, finish_reason: string | null = null) =>
    event({
      id: 'chat-1',
      object: 'chat.completion.chunk',
      created: 1,
      model,
      choices: [{ index: 0, delta, finish_reason }],
    })
  yield chunk({ role: 'assistant', content: '' })
  for (const content of piecesOf(reply)) yield chunk({ content })
  for (const [index, call] of (reply.calls ?? []).entries()) {
    const [half, rest] = [textOf(call).slice(0, 5), textOf(call).slice(5)]
    yield chunk({
      tool_calls: [
        { index, id: call.id ?? `call-${index}`, type: 'function', function: { name: call.name, arguments: half } },
      ],
    })
    yield chunk({ tool_calls: [{ index, function: { arguments: rest } }] })
  }
  yield ''
  for (const content of reply.late ?? []) yield chunk({ content })
  yield chunk({}, reply.calls?.length ? 'tool_calls' : 'stop')
  yield event({
    id: 'chat-1',
    model,
    choices: [],
    usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 },
  })
  yield 'data: [DONE]\n\n'
}

function* asAnthropic(reply: Scripted, model: string): Generator<string> {
  const usage = { input_tokens: 100, output_tokens: 1 }
  const message = { id: 'msg-1', type: 'message', role: 'assistant', model, content: [], stop_reason: null, usage }
  yield event({ type: 'message_start', message }, 'message_start')
  let index = 0
  const pieces = piecesOf(reply)
  if (pieces.length > 0) {
    yield event(
      { type: 'content_block_start', index, content_block: { type: 'text', text: '' } },
      'content_block_start',
    )
    for (const text of pieces)
      yield event({ type: 'content_block_delta', index, delta: { type: 'text_delta', text } }, 'content_block_delta')
    yield event({ type: 'content_block_stop', index: index++ }, 'content_block_stop')
  }
  for (const call of reply.calls ?? []) {
    const block = { type: 'tool_use', id: `toolu-${index}`, name: call.name, input: {} }
    yield event({ type: 'content_block_start', index, content_block: block }, 'content_block_start')
    const delta = { type: 'input_json_delta', partial_json: textOf(call) }
    yield event({ type: 'content_block_delta', index, delta }, 'content_block_delta')
    yield event({ type: 'content_block_stop', index: index++ }, 'content_block_stop')
  }
  yield ''
  const stop_reason = reply.calls?.length ? 'tool_use' : 'end_turn'
  yield event({ type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 20 } }, 'message_delta')
  yield event({ type: 'message_stop' }, 'message_stop')
}

/** Starts a model server on a free port; the caller closes it. */
export async function startModelServer({ models = {}, ollama }: ModelServerOptions = {}): Promise<ModelServer> {
  const heard: Heard[] = []
  const script: (Scripted | ((heard: Heard) => Scripted))[] = []
  let left = 0

  const json = (response: ServerResponse, value: unknown, status = 200) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))

  async function reply(request: IncomingMessage, response: ServerResponse, isAnthropic: boolean): Promise<void> {
    const body = await bodyOf(request)
    const tools = ((body['tools'] ?? []) as { name?: string; function?: { name: string } }[]).map(
      ({ name, function: one }) => name ?? one!.name,
    )
    const question: Heard = {
      path: request.url!,
      headers: request.headers,
      model: String(body['model']),
      messages: body['messages'] as Heard['messages'],
      tools,
      body,
    }
    heard.push(question)
    const next = script.shift() ?? { text: 'Hello.' }
    const scripted = typeof next === 'function' ? next(question) : next
    if (scripted.status !== undefined) {
      response.writeHead(scripted.status, { 'content-type': 'application/json', ...scripted.headers })
      return void response.end(JSON.stringify({ error: { message: 'no' } }))
    }
    response.on('close', () => {
      if (!response.writableEnded) left++
    })
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    if (scripted.raw !== undefined) return void response.end(scripted.raw)
    const closed = once(response, 'close')
    for (const chunk of (isAnthropic ? asAnthropic : asOpenAi)(scripted, question.model)) {
      if (chunk === '') {
        if (scripted.cut) return void response.socket?.end()
        if (scripted.hang) return void (await closed)
        await Promise.race([scripted.until, closed])
      } else if (!response.write(chunk)) await Promise.race([once(response, 'drain'), closed])
      if (response.destroyed) return
    }
    response.end()
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url!
    if (path === '/v1/chat/completions') return reply(request, response, false)
    if (path === '/anthropic/v1/messages') return reply(request, response, true)
    if (path === '/v1/models') {
      const names = { ...models, ...ollama }
      return void json(response, {
        data: Object.entries(names).map(([id, more]) => ({ id, object: 'model', ...more })),
      })
    }
    if (path === '/api/tags' && ollama)
      return void json(response, { models: Object.keys(ollama).map((name) => ({ name, model: name })) })
    if (path === '/api/show' && ollama) {
      const shown = ollama[String((await bodyOf(request))['model'])]
      return void json(response, shown ?? { error: 'model not found' }, shown ? 200 : 404)
    }
    json(response, { error: 'not found' }, 404)
  }

  const server = createServer((request, response) => void answer(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: `http://${host}/v1`,
    anthropic: `http://${host}/anthropic/v1`,
    host,
    heard,
    will: (...replies) => void script.push(...replies),
    left: () => left,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** A model server for one test, which closes it. */
export async function modelServerOfTest(options?: ModelServerOptions): Promise<ModelServer> {
  const server = await startModelServer(options)
  onTestFinished(() => server.close())
  return server
}
