import { DAY, MINUTE, type Clock } from '../../../base/clock.ts'
import { formatDuration } from '../../../base/durations.ts'
import { ModelTrouble, type LanguageModels, type ModelServer, type ModelTraits } from '../../../base/language-model.ts'
import { badRequest, fault, type Fault } from '../../../contract/errors.ts'
import type { Settings, Values } from '../../instance/instance.ts'

/** What is known of a model belongs to its server. */
const keyFor = ({ url }: ModelServer, id: string): string => `${url} ${id}`

/** A model with all that has to be known of it. */
export interface Model {
  id: string
  /** Whether it calls functions; undefined where only a question can show it. */
  tools: boolean | undefined
  vision: boolean
  context: number
}

export type ModelRole = 'chat' | 'agent' | 'vision'

/** The models that an administrator chose. */
export interface Choice {
  server: ModelServer
  /** The one that answers. */
  chat: string
  agent: string | undefined
  vision: string | undefined
  /** Every model that may be asked for, the standard one first. */
  all: string[]
}

interface Parts {
  languageModels: LanguageModels
  settings: Settings
  clock: Clock
}

/** Tokens of a model of which nothing is known. */
const CONTEXT = 8_192
/** How long what a server said of a model is believed, that it took no functions, and whether an Ollama is there, ms. */
const TRAITS_LAST = 10 * MINUTE
const REFUSAL_LASTS = DAY
const GLANCE_LASTS = MINUTE

const SET = 'svc config set assistant.'

/** The key for the models, which nobody can open who lost the one it was sealed with: fault `assistant_unavailable`. */
async function keyOf(settings: Settings): Promise<string> {
  try {
    return await settings.secret('assistant.api_key')
  } catch {
    const text = `The key for the models cannot be opened any more; set it anew: ${SET}api_key - < FILE`
    throw fault('assistant_unavailable', { text })
  }
}

/** Models whose server refused a question with functions and took it without. */
function makeRefusals(clock: Clock) {
  const until = new Map<string, number>()
  return {
    has: (server: ModelServer, id: string): boolean => (until.get(keyFor(server, id)) ?? 0) > clock.now(),
    note: (server: ModelServer, id: string): void => void until.set(keyFor(server, id), clock.now() + REFUSAL_LASTS),
  }
}

/** The models of this service and what they can. */
export function makeAssistantModels({ languageModels, settings, clock }: Parts) {
  const known = new Map<string, { traits: ModelTraits; until: number }>()
  const refusals = makeRefusals(clock)
  let glance: { lines: string; until: number } | undefined

  async function traitsOf(server: ModelServer, id: string): Promise<ModelTraits> {
    const key = keyFor(server, id)
    const found = known.get(key)
    if (found && found.until > clock.now()) return found.traits
    const traits = await languageModels.traits(server, id).catch((error: unknown) => {
      // A server that tells nothing of its models may answer all the same.
      if (error instanceof ModelTrouble && error.kind !== 'unreachable' && error.kind !== 'busy') return {}
      throw error
    })
    known.set(key, { traits, until: clock.now() + TRAITS_LAST })
    return traits
  }

  /** The lines that would make an Ollama of this machine the assistant's. */
  async function offer(): Promise<string> {
    if (glance && glance.until > clock.now()) return glance.lines
    const ollama = await languageModels.ollama()
    const model = ollama?.models[0]
    const lines =
      ollama && model ? ` There is an Ollama here: ${SET}base_url ${ollama.url} && ${SET}chat_model ${model}` : ''
    glance = { lines, until: clock.now() + GLANCE_LASTS }
    return lines
  }

  async function missing(values: Values): Promise<string | undefined> {
    const { 'assistant.base_url': url, 'assistant.chat_model': chat } = values
    if (url === '') return `No model is set up: ${SET}base_url URL and ${SET}chat_model MODEL.${await offer()}`
    return chat === '' ? `No model is chosen: ${SET}chat_model MODEL.` : undefined
  }

  /** The models chosen. Fault `assistant_unavailable`, naming the setting to make. */
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
      tools: declared?.tools ?? found.tools ?? (refusals.has(server, id) ? false : undefined),
      vision: declared?.vision ?? found.vision ?? false,
      context: declared?.context ?? found.context ?? CONTEXT,
    }
  }

  return {
    choice,
    /** What a model can: as declared, else as its server says, else as questions show it, else little. Throws `ModelTrouble`. */
    describe,
    /** Remembers that a model takes no functions. */
    noteRefusal: ({ server }: Choice, id: string): void => refusals.note(server, id),
    /** Why there is no assistant, with the settings to make; undefined when models are chosen. */
    missing: async () => missing(await settings.values()),
    /** The models that may be asked for, the standard one first; none when nothing is set up. */
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
    /** The chosen models with the chat model a caller asked for. Fault `bad_request` for one that is not on the list. */
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
    if (error instanceof ModelTrouble) return { id, tools: undefined, vision: false, context: CONTEXT }
    throw error
  }

/** What users are told of a model that gave no answer. */
export function unanswered(error: ModelTrouble): Fault {
  const { kind, retryAfter } = error
  const later = retryAfter === undefined ? 'in a while' : `in ${formatDuration(retryAfter * 1_000)}`
  const texts: Record<ModelTrouble['kind'], string> = {
    unreachable: 'The model does not answer at the moment; try again later.',
    refused: 'The model refuses this server: an administrator has to look at assistant.api_key (svc doctor).',
    missing: 'The model is not there: an administrator has to look at assistant.chat_model (svc doctor).',
    limited: `The model is asked too often at the moment; try again ${later}.`,
    busy: `The model has too much to do at the moment; try again ${later}.`,
    broken: 'The answer of the model broke off; try again.',
  }
  return fault('assistant_unavailable', { text: texts[kind], ...(retryAfter !== undefined && { retryAfter }) })
}
