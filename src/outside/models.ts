import {
  InvalidResponseDataError,
  type LanguageModelV3,
  type LanguageModelV3Message,
  type LanguageModelV3StreamPart,
} from '@ai-sdk/provider'
import {
  argumentsOf,
  type LanguageModels,
  type ModelCall,
  type ModelMessage,
  type ModelReply,
  type ModelRequest,
  type ModelServer,
  ModelError,
} from '../base/language-model.ts'
import { makeModelTraits, speaksAnthropic, baseOf } from './model-traits.ts'
import { withRetry, type RetryOptions } from '../base/retry.ts'
import type { Sleep } from '../base/sleep.ts'
import { guardedFetch, toModelError } from './model-http.ts'

/** Most characters of text, and of arguments, per reply. */
const MAX_CHARACTERS = 262_144

/** Reply tokens for servers that require a limit. */
const REPLY_TOKENS = 8_192

/**
 * Retries while the server takes no requests (429, 503). The user is waiting, so longer delays are not retried. These
 * errors come before any output.
 */
const whileBusy: RetryOptions = {
  first: 500,
  factor: 4,
  longest: 5_000,
  attempts: 4,
  timeLimit: 30_000,
  isTemporary: (error) => error instanceof ModelError && (error.kind === 'limited' || error.kind === 'busy'),
  retryAfterOf: (error) => ((error as ModelError).retryAfter ?? 0) * 1_000,
}

/** Asks models over HTTP. `ollamaHost` is the address of a local Ollama, as in `OLLAMA_HOST`. */
export function makeModels({
  ollamaHost,
  ...options
}: { ollamaHost?: string | undefined; sleep?: Sleep } = {}): LanguageModels {
  return {
    ask: (request) => withRetry(() => ask(request), { ...whileBusy, ...options, signal: request.signal }),
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
    throw toModelError(error, server)
  } finally {
    end.abort()
  }
}

const EMPTY_CALL: ModelCall = { id: '', name: '', arguments: '' }

/** Whether an error concerns a call that the model wrote, and not the whole response. */
const isOfCall = (error: unknown): boolean => InvalidResponseDataError.isInstance(error) && error.data !== undefined

/** Reads a reply. Invalid calls are reported when they are executed. */
async function read(stream: ReadableStream<LanguageModelV3StreamPart>, request: ModelRequest): Promise<ModelReply> {
  const begun = new Map<string, ModelCall>()
  const said = { text: '' }
  try {
    return await readParts(stream, request, begun, said)
  } catch (error) {
    if (!isOfCall(error)) throw error
    return { ...said, calls: [...begun.values(), EMPTY_CALL], tokens: 0, cut: false }
  }
}

/** Reads the parts of a reply into `begun` and `said`. */
async function readParts(
  stream: ReadableStream<LanguageModelV3StreamPart>,
  { onText }: ModelRequest,
  begun: Map<string, ModelCall>,
  said: { text: string },
): Promise<ModelReply> {
  let argued = 0
  for await (const part of stream) {
    if (part.type === 'error') throw part.error
    if (part.type === 'text-delta' && part.delta !== '') {
      const piece = part.delta.slice(0, MAX_CHARACTERS - said.text.length)
      said.text += piece
      await onText(piece)
      if (said.text.length >= MAX_CHARACTERS) return { ...said, calls: [], tokens: 0, cut: true }
    }
    if (part.type === 'tool-input-start') begun.set(part.id, { id: part.id, name: part.toolName, arguments: '' })
    if (part.type === 'tool-input-delta') {
      const call = begun.get(part.id)
      if (call) call.arguments += part.delta.slice(0, MAX_CHARACTERS - argued)
      argued += part.delta.length
    }
    if (part.type === 'tool-call') {
      const { toolCallId: id, toolName: name, input } = part
      const left = begun.has(id) ? input.length : MAX_CHARACTERS - argued
      begun.set(id, { id, name, arguments: input.slice(0, left) })
      argued += Math.max(0, input.length - left)
    }
    // The oversized call is cut off here, so its JSON is invalid.
    if (argued > MAX_CHARACTERS) return { ...said, calls: [...begun.values()], tokens: 0, cut: true }
    if (part.type === 'finish') {
      const { finishReason, usage } = part
      if (finishReason.raw === undefined) throw new ModelError('broken', 'the answer of the model breaks off')
      const tokens = (usage.inputTokens.total ?? 0) + (usage.outputTokens.total ?? 0)
      const isNameless = finishReason.unified === 'tool-calls' && begun.size === 0
      const calls = isNameless ? [EMPTY_CALL] : [...begun.values()]
      return { ...said, calls, tokens, cut: finishReason.unified === 'length' }
    }
  }
  throw new ModelError('broken', 'the answer of the model breaks off')
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
            toolName: nameFor(call.name),
            // Servers reject invalid JSON, so it is replaced with an empty object.
            input: argumentsOf(call) ?? {},
          })),
        ],
      }
    case 'result': {
      const { id, name, text } = message
      return {
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId: id, toolName: nameFor(name), output: { type: 'text', value: text } },
        ],
      }
    }
  }
}

/** A valid name for a call whose name the model made up. */
const nameFor = (name: string): string => (/^[\w-]{1,64}$/.test(name) ? name : 'unreadable')
