import type { LanguageModels, ModelFunction, ModelMessage, ModelReply } from '../../base/language-model.ts'
import type { AssistantModels, Choice } from './models.ts'
import { asText, makeCallReader } from './text-calls.ts'
import { affordable, fit, tokensOf } from './window.ts'

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

  /** The reply, with its tokens reckoned where the model does not tell them. Throws `ModelTrouble`; fault `too_large`. */
  return async function askModel({ choice, say, question, ...asked }: Asked): Promise<ModelReply> {
    const { tools, context } = await models.describe(choice, asked.model)
    const functions = affordable(asked.functions, context)
    const messages = fit(asked.messages, { question, context, functions })
    const request = { ...asked, functions, messages, server: choice.server, onText: say }
    const reply = tools || functions.length === 0 ? await languageModels.ask(request) : await inText(request)
    const tokens = reply.tokens || tokensOf(messages.map(({ text }) => text).join('') + reply.text)
    return { ...reply, tokens, calls: asked.mayCall ? reply.calls : [] }
  }
}

export type AskModel = ReturnType<typeof makeAskModel>
