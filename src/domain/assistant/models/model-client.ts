import {
  ModelError,
  type LanguageModels,
  type ModelCall,
  type ModelFunction,
  type ModelMessage,
  type ModelReply,
} from '../../../base/language-model.ts'
import { printable } from '../../../base/text.ts'
import type { AssistantModels, Choice } from './models.ts'
import { asText, makeCallReader } from './text-calls.ts'
import { fittingFunctions, fitMessages, tokensOf } from './context-window.ts'

export interface ModelRequest {
  choice: Choice
  model: string
  messages: readonly ModelMessage[]
  /** Index of the question; earlier messages may be dropped. */
  question: number
  functions: readonly ModelFunction[]
  mayCall: boolean
  signal: AbortSignal
  /** Receives the text for the user as it arrives. */
  onText: (text: string) => void | Promise<void>
}

interface Deps {
  languageModels: LanguageModels
  models: AssistantModels
}

type LanguageModelRequest = Parameters<LanguageModels['ask']>[0]

/** Maximum number of calls read from one reply. */
const MAX_CALLS = 64
const MAX_LENGTH = { name: 64, id: 128 }

/** Appended to an answer that the model or a limit truncated. */
const CUT = '\n[cut: the answer is longer]'

/** Normalises calls for storage, display and the model: short names and unique ids. */
function normaliseCalls(calls: readonly ModelCall[]): ModelCall[] {
  const ids = new Set<string>()
  return calls.slice(0, MAX_CALLS).map(({ id: given, name, arguments: text }, index) => {
    const isOwn = given !== '' && given.length <= MAX_LENGTH.id && printable(given) === given && !ids.has(given)
    const id = isOwn && given.isWellFormed() ? given : `call_${index + 1}`
    ids.add(id)
    return { id, name: printable(name.slice(0, MAX_LENGTH.name)).toWellFormed(), arguments: text }
  })
}

/** Whether a request may succeed without its functions: they were refused, or the model called them unreadably. */
const mayGoWithoutFunctions = (error: unknown): error is ModelError =>
  error instanceof ModelError &&
  (error.kind === 'broken' || error.kind === 'missing' || error.status === 500 || error.status === 501)

/** Asks models with function calling, or describes the functions in the text for models without it. */
export function makeModelClient({ languageModels, models }: Deps) {
  async function askInText(request: LanguageModelRequest): Promise<ModelReply> {
    const { mayCall, functions, messages, onText } = request
    const reader = makeCallReader()
    let text = ''
    const output = async (chunk: string) => {
      text += chunk
      if (chunk !== '') await onText(chunk)
    }
    const reply = await languageModels.ask({
      ...request,
      messages: asText(messages, mayCall ? functions : []),
      functions: [],
      mayCall: false,
      onText: (chunk) => output(reader.feed(chunk)),
    })
    await output(reader.end())
    return { ...reply, text, calls: reader.calls }
  }

  /**
   * Asks a model of unknown abilities with functions, and again in the text if that fails. Remembers what the server
   * accepts: an error status such as 400, 404, 500 or 501 is a refusal, an unreadable answer is not.
   */
  async function askWithFallback(request: LanguageModelRequest, choice: Choice): Promise<ModelReply> {
    let hasOutput = false
    const onText = (chunk: string) => {
      hasOutput = true
      return request.onText(chunk)
    }
    let failure: ModelError
    try {
      const reply = await languageModels.ask({ ...request, onText })
      models.noteFunctions(choice, request.model, true)
      return reply
    } catch (error) {
      if (hasOutput || !mayGoWithoutFunctions(error)) throw error
      failure = error
    }
    const reply = await askInText(request)
    if (failure.status !== undefined) models.noteFunctions(choice, request.model, false)
    return reply
  }

  /** Estimates the tokens if the server does not report them. Throws `ModelError`; fault `too_large`. */
  return async function askModel({ choice, question, ...asked }: ModelRequest): Promise<ModelReply> {
    const { tools, context } = await models.describe(choice, asked.model)
    const functions = fittingFunctions(asked.functions, context)
    const messages = fitMessages(asked.messages, { question, context, functions })
    const request = { ...asked, functions, messages, server: choice.server }
    const reply = await (tools === true || functions.length === 0
      ? languageModels.ask(request)
      : tools === false
        ? askInText(request)
        : askWithFallback(request, choice))
    if (reply.cut && reply.calls.length === 0) await asked.onText(CUT)
    const tokens = reply.tokens || tokensOf(messages.map(({ text }) => text).join('') + reply.text)
    return { ...reply, tokens, calls: asked.mayCall ? normaliseCalls(reply.calls) : [] }
  }
}

export type AskModel = ReturnType<typeof makeModelClient>
