import {
  ModelTrouble,
  type LanguageModels,
  type ModelCall,
  type ModelFunction,
  type ModelMessage,
  type ModelReply,
} from '../../../base/language-model.ts'
import { printable } from '../../../base/text.ts'
import type { AssistantModels, Choice } from './models.ts'
import { asText, makeCallReader } from './text-calls.ts'
import { affordable, fit, tokensOf } from './context-window.ts'

/** What one model is asked. */
export interface Asked {
  choice: Choice
  model: string
  messages: readonly ModelMessage[]
  /** Index of the question: what stands before it may be left out. */
  question: number
  functions: readonly ModelFunction[]
  /** False for an answer without calls. */
  mayCall: boolean
  signal: AbortSignal
  /** Is told what is meant for the user, as it comes. */
  say: (text: string) => void | Promise<void>
}

interface Parts {
  languageModels: LanguageModels
  models: AssistantModels
}

type Request = Parameters<LanguageModels['ask']>[0]

/** Most calls of one reply that are looked at. */
const MOST_CALLS = 64
const LONGEST = { name: 64, id: 128 }

/** Said behind an answer of which the model, or its bound here, left out the end. */
const CUT = '\n[cut: the answer is longer]'

/** Calls as they can be stored, shown and told to the model again: each with a short name and an id of its own. */
function tidy(calls: readonly ModelCall[]): ModelCall[] {
  const ids = new Set<string>()
  return calls.slice(0, MOST_CALLS).map(({ id: given, name, arguments: text }, index) => {
    const isOwn = given !== '' && given.length <= LONGEST.id && printable(given) === given && !ids.has(given)
    const id = isOwn && given.isWellFormed() ? given : `call_${index + 1}`
    ids.add(id)
    return { id, name: printable(name.slice(0, LONGEST.name)).toWellFormed(), arguments: text }
  })
}

/** Whether a server may have refused a question because of its functions: some say so with 400 or 404, others fail (500, 501). */
const mayRefuseFunctions = (error: unknown): boolean =>
  error instanceof ModelTrouble &&
  (error.kind === 'broken' || error.kind === 'missing' || error.status === 500 || error.status === 501)

/** Asks models in the way each understands: those that do not call functions are told of them in the text. */
export function makeAskModel({ languageModels, models }: Parts) {
  async function inText(request: Request): Promise<ModelReply> {
    const { mayCall, functions, messages, onText } = request
    const reader = makeCallReader()
    let text = ''
    const tell = async (piece: string) => {
      text += piece
      if (piece !== '') await onText(piece)
    }
    const reply = await languageModels.ask({
      ...request,
      messages: asText(messages, mayCall ? functions : []),
      functions: [],
      mayCall: false,
      onText: (piece) => tell(reader.feed(piece)),
    })
    await tell(reader.end())
    return { ...reply, text, calls: reader.calls }
  }

  /** Asks a model of which nothing is known: with functions, and in the text where its server takes none. That is remembered. */
  async function eitherWay(request: Request, choice: Choice): Promise<ModelReply> {
    let isTold = false
    const onText = (piece: string) => {
      isTold = true
      return request.onText(piece)
    }
    try {
      return await languageModels.ask({ ...request, onText })
    } catch (error) {
      if (isTold || !mayRefuseFunctions(error)) throw error
    }
    const reply = await inText(request)
    models.noteRefusal(choice, request.model)
    return reply
  }

  /** The reply, with its tokens reckoned where the model does not tell them. Throws `ModelTrouble`; fault `too_large`. */
  return async function askModel({ choice, say, question, ...asked }: Asked): Promise<ModelReply> {
    const { tools, context } = await models.describe(choice, asked.model)
    const functions = affordable(asked.functions, context)
    const messages = fit(asked.messages, { question, context, functions })
    const request = { ...asked, functions, messages, server: choice.server, onText: say }
    const reply = await (tools === true || functions.length === 0
      ? languageModels.ask(request)
      : tools === false
        ? inText(request)
        : eitherWay(request, choice))
    if (reply.cut && reply.calls.length === 0) await say(CUT)
    const tokens = reply.tokens || tokensOf(messages.map(({ text }) => text).join('') + reply.text)
    return { ...reply, tokens, calls: asked.mayCall ? tidy(reply.calls) : [] }
  }
}

export type AskModel = ReturnType<typeof makeAskModel>
