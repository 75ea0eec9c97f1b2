import type { LanguageModelV3, LanguageModelV3Message, LanguageModelV3StreamPart } from '@ai-sdk/provider'
import {
  type LanguageModels,
  type ModelCall,
  type ModelMessage,
  type ModelReply,
  type ModelRequest,
  type ModelServer,
  ModelTrouble,
} from '../base/language-model.ts'
import { makeModelTraits, speaksAnthropic, baseOf } from './model-traits.ts'
import { patiently, realSleep, type Sleep } from './model-patience.ts'
import { guardedFetch, troubleOf } from './model-http.ts'

/** Most characters of text, and of arguments, that one reply may have. */
const MOST = 262_144

/** Tokens of a reply, for those who want to be told. */
const REPLY_TOKENS = 8_192

/** Asks models by HTTP. `ollamaHost` is where an Ollama of this machine would be, as `OLLAMA_HOST` has it. */
export function makeModels({
  ollamaHost,
  sleep = realSleep,
}: { ollamaHost?: string | undefined; sleep?: Sleep } = {}): LanguageModels {
  return {
    ask: (request) => patiently(() => ask(request), sleep, request.signal),
    ...makeModelTraits(ollamaHost),
  }
}

async function modelOf(server: ModelServer, id: string): Promise<LanguageModelV3> {
  const options = { baseURL: baseOf(server), fetch: guardedFetch }
  if (speaksAnthropic(server)) {
    const { createAnthropic } = await import('@ai-sdk/anthropic')
    return createAnthropic({ ...options, apiKey: server.key })(id)
  }
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
  const key = server.key === '' ? {} : { apiKey: server.key }
  return createOpenAICompatible({ ...options, ...key, name: 'models', includeUsage: true }).chatModel(id)
}

async function ask(request: ModelRequest): Promise<ModelReply> {
  const { server, model: id, messages, functions, mayCall, signal } = request
  const model = await modelOf(server, id)
  const end = new AbortController()
  try {
    const { stream } = await model.doStream({
      prompt: messages.map(toMessage),
      ...(functions.length > 0 && {
        tools: functions.map(({ name, description, parameters }) => ({
          type: 'function' as const,
          name,
          description,
          inputSchema: parameters,
        })),
        toolChoice: { type: mayCall ? ('auto' as const) : ('none' as const) },
      }),
      ...(speaksAnthropic(server) && { maxOutputTokens: REPLY_TOKENS }),
      abortSignal: AbortSignal.any([signal, end.signal]),
    })
    return await read(stream, request)
  } catch (error) {
    signal.throwIfAborted()
    throw troubleOf(error, server)
  } finally {
    end.abort()
  }
}

async function read(stream: ReadableStream<LanguageModelV3StreamPart>, { onText }: ModelRequest): Promise<ModelReply> {
  const calls: ModelCall[] = []
  let text = ''
  let argued = 0
  for await (const part of stream) {
    if (part.type === 'error') throw part.error
    if (part.type === 'text-delta' && part.delta !== '') {
      const piece = part.delta.slice(0, MOST - text.length)
      text += piece
      await onText(piece)
      if (text.length >= MOST) return { text, calls: [], tokens: 0, cut: true }
    }
    if (part.type === 'tool-input-delta') argued += part.delta.length
    if (part.type === 'tool-call') {
      calls.push({ id: part.toolCallId, name: part.toolName, arguments: part.input })
      argued = Math.max(argued, part.input.length)
    }
    if (argued > MOST) throw new ModelTrouble('broken', 'the model calls a function with too much')
    if (part.type === 'finish') {
      const { finishReason, usage } = part
      if (finishReason.raw === undefined) throw new ModelTrouble('broken', 'the answer of the model breaks off')
      const tokens = (usage.inputTokens.total ?? 0) + (usage.outputTokens.total ?? 0)
      return { text, calls, tokens, cut: finishReason.unified === 'length' }
    }
  }
  throw new ModelTrouble('broken', 'the answer of the model breaks off')
}

function toMessage(message: ModelMessage): LanguageModelV3Message {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.text }
    case 'user': {
      const { text, image } = message
      const picture = image && { type: 'file' as const, mediaType: image.type, data: image.base64 }
      return { role: 'user', content: [{ type: 'text', text }, ...(picture ? [picture] : [])] }
    }
    case 'assistant':
      return {
        role: 'assistant',
        content: [
          ...(message.text === '' ? [] : [{ type: 'text' as const, text: message.text }]),
          ...message.calls.map((call) => ({
            type: 'tool-call' as const,
            toolCallId: call.id,
            toolName: call.name,
            input: argumentsOf(call),
          })),
        ],
      }
    case 'result': {
      const { id, name, text } = message
      return {
        role: 'tool',
        content: [{ type: 'tool-result', toolCallId: id, toolName: name, output: { type: 'text', value: text } }],
      }
    }
  }
}

/** Arguments that are no JSON go back as none: servers refuse them. */
function argumentsOf({ arguments: text }: ModelCall): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}
