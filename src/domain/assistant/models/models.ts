import { DAY, MINUTE, type Clock } from '../../../base/clock.ts'
import { formatDuration } from '../../../base/durations.ts'
import { ModelError, type LanguageModels, type ModelServer, type ModelTraits } from '../../../base/language-model.ts'
import { badRequest, fault, type Fault } from '../../../contract/errors.ts'
import type { Settings, Values } from '../../instance/instance.ts'

/** Models are cached per server. */
const keyFor = ({ url }: ModelServer, id: string): string => `${url} ${id}`

export interface Model {
  id: string
  /** Whether it supports function calling; undefined until a request shows it. */
  tools: boolean | undefined
  vision: boolean
  context: number
}

export type ModelRole = 'chat' | 'agent' | 'vision'

export interface Choice {
  server: ModelServer
  /** The model that answers. */
  chat: string
  agent: string | undefined
  vision: string | undefined
  /** Every selectable model, the default first. */
  all: string[]
}

interface Deps {
  languageModels: LanguageModels
  settings: Settings
  clock: Clock
}

/** Context window of an unknown model, tokens. */
const DEFAULT_CONTEXT = 8_192
/** Time to live, ms: of a server's answer about a model, of what requests showed about functions, and of the search for Ollama. */
const TRAITS_TTL = 10 * MINUTE
const SUPPORT_TTL = DAY
const OLLAMA_TTL = MINUTE

const SET = 'svc config set assistant.'

/** The API key. Fault `assistant_unavailable` if the key it was encrypted with is lost. */
async function keyOf(settings: Settings): Promise<string> {
  try {
    return await settings.secret('assistant.api_key')
  } catch {
    const text = `The key for the models can no longer be opened. Set it again: ${SET}api_key - < FILE`
    throw fault('assistant_unavailable', { text })
  }
}

/** What requests have shown about functions. A refusal does not count where functions were accepted before: it has another cause. */
function makeFunctionSupport(clock: Clock) {
  const shown = new Map<string, { accepted: boolean; until: number }>()
  const of = (key: string): boolean | undefined => {
    const last = shown.get(key)
    return last && last.until > clock.now() ? last.accepted : undefined
  }
  return {
    of: (server: ModelServer, id: string): boolean | undefined => of(keyFor(server, id)),
    note(server: ModelServer, id: string, accepted: boolean): void {
      const key = keyFor(server, id)
      if (accepted || of(key) === undefined) shown.set(key, { accepted, until: clock.now() + SUPPORT_TTL })
    },
  }
}

/** What servers report about their models, remembered for a while. The function throws `ModelError`. */
function makeTraits({ languageModels, clock }: Pick<Deps, 'languageModels' | 'clock'>) {
  const known = new Map<string, { traits: ModelTraits; until: number }>()
  return async function traitsOf(server: ModelServer, id: string): Promise<ModelTraits> {
    const key = keyFor(server, id)
    const found = known.get(key)
    if (found && found.until > clock.now()) return found.traits
    const traits = await languageModels.traits(server, id).catch((error: unknown) => {
      // A server that does not describe its models may still answer.
      if (error instanceof ModelError && error.kind !== 'unreachable' && error.kind !== 'busy') return {}
      throw error
    })
    known.set(key, { traits, until: clock.now() + TRAITS_TTL })
    return traits
  }
}

/** The configured models and their abilities. */
export function makeAssistantModels({ languageModels, settings, clock }: Deps) {
  const traitsOf = makeTraits({ languageModels, clock })
  const functionSupport = makeFunctionSupport(clock)
  let ollamaHint: { lines: string; until: number } | undefined

  /** The commands that configure an Ollama of this machine. */
  async function findOllama(): Promise<string> {
    if (ollamaHint && ollamaHint.until > clock.now()) return ollamaHint.lines
    const ollama = await languageModels.ollama()
    const model = ollama?.models[0]
    const lines =
      ollama && model ? ` There is an Ollama here: ${SET}base_url ${ollama.url} && ${SET}chat_model ${model}` : ''
    ollamaHint = { lines, until: clock.now() + OLLAMA_TTL }
    return lines
  }

  async function missing(values: Values): Promise<string | undefined> {
    const { 'assistant.base_url': url, 'assistant.chat_model': chat } = values
    if (url === '') return `No model is set up: ${SET}base_url URL and ${SET}chat_model MODEL.${await findOllama()}`
    return chat === '' ? `No model is chosen: ${SET}chat_model MODEL.` : undefined
  }

  /** The configured models. Fault `assistant_unavailable`, naming the setting to change. */
  async function choice(): Promise<Choice> {
    const values = await settings.values()
    const text = await missing(values)
    if (text !== undefined) throw fault('assistant_unavailable', { text })
    const { 'assistant.chat_model': chat, 'assistant.agent_model': agent, 'assistant.vision_model': vision } = values
    const declared = values['assistant.models'].map(({ id }) => id)
    return {
      server: { url: values['assistant.base_url'], key: await keyOf(settings) },
      chat,
      agent: agent || undefined,
      vision: vision || undefined,
      all: [...new Set([chat, agent, vision, ...declared])].filter((id) => id !== ''),
    }
  }

  async function describe({ server }: Choice, id: string): Promise<Model> {
    const declared = (await settings.values())['assistant.models'].find((one) => one.id === id)
    const isWhole = declared?.tools !== undefined && declared.vision !== undefined && declared.context !== undefined
    const found = isWhole ? {} : await traitsOf(server, id)
    return {
      id,
      tools: declared?.tools ?? found.tools ?? (functionSupport.of(server, id) === false ? false : undefined),
      vision: declared?.vision ?? found.vision ?? false,
      context: declared?.context ?? found.context ?? DEFAULT_CONTEXT,
    }
  }

  return {
    choice,
    /** As declared in the settings, else as reported by the server, else as requests have shown. Throws `ModelError`. */
    describe,
    /** Remembers that a model accepted or refused functions. */
    noteFunctions: ({ server }: Choice, id: string, accepted: boolean): void =>
      functionSupport.note(server, id, accepted),
    /** Why there is no assistant, with the commands to configure it; undefined if models are configured. */
    missing: async () => missing(await settings.values()),
    /** The selectable models, the default first; empty if none is configured. */
    async list(): Promise<(Model & { tools: boolean; roles: ModelRole[] })[]> {
      const values = await settings.values()
      if (values['assistant.base_url'] === '' || values['assistant.chat_model'] === '') return []
      const chosen = await choice()
      const roles = (id: string): ModelRole[] =>
        (['chat', 'agent', 'vision'] as const).filter((role) => chosen[role] === id)
      return Promise.all(
        chosen.all.map(async (id) => {
          const { tools = true, ...model } = await describe(chosen, id).catch(asUnknown(id))
          return { ...model, tools, roles: roles(id) }
        }),
      )
    },
    /** The configured models with the chat model a caller selected. Fault `bad_request` for one that is not selectable. */
    async chosenBy(wanted: string | null | undefined): Promise<Choice> {
      const chosen = await choice()
      if (wanted === null || wanted === undefined || wanted === '') return chosen
      if (!chosen.all.includes(wanted)) throw badRequest('model', `must be one of ${chosen.all.join(', ')}`)
      return { ...chosen, chat: wanted }
    },
  }
}

export type AssistantModels = ReturnType<typeof makeAssistantModels>

const asUnknown =
  (id: string) =>
  (error: unknown): Model => {
    if (error instanceof ModelError) return { id, tools: undefined, vision: false, context: DEFAULT_CONTEXT }
    throw error
  }

/** The fault for users when a model does not answer. */
export function unanswered(error: ModelError): Fault {
  const { kind, retryAfter } = error
  const later = retryAfter === undefined ? 'in a while' : `in ${formatDuration(retryAfter * 1_000)}`
  const texts: Record<ModelError['kind'], string> = {
    unreachable: 'The model does not answer at the moment; try again later.',
    refused: 'The model refuses this server: an administrator has to look at assistant.api_key (svc doctor).',
    missing: 'The model is not there: an administrator has to look at assistant.chat_model (svc doctor).',
    limited: `The model has too many requests at the moment; try again ${later}.`,
    busy: `The model has too much to do at the moment; try again ${later}.`,
    broken: 'The answer of the model broke off; try again.',
  }
  return fault('assistant_unavailable', { text: texts[kind], ...(retryAfter !== undefined && { retryAfter }) })
}
