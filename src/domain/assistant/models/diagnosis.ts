import { ModelError, type LanguageModels } from '../../../base/language-model.ts'
import { isFault } from '../../../contract/errors.ts'
import type { AssistantModels, Choice, ModelRole } from './models.ts'
import { functionOf, type ToolsFor } from '../tools/tool.ts'
import { fittingFunctions } from './context-window.ts'

export interface Diagnosis {
  isWell: boolean
  found: string
  /** How to repair it, if something is wrong. */
  remedy?: string
}

interface Deps {
  languageModels: LanguageModels
  models: AssistantModels
  toolsFor: ToolsFor
}

const ROLES: readonly ModelRole[] = ['chat', 'agent', 'vision']

const REMEDIES: Record<ModelError['kind'], string> = {
  unreachable: 'start it, or set another: svc config set assistant.base_url URL',
  refused: 'svc config set assistant.api_key - < FILE',
  missing: 'svc config set assistant.base_url URL, with the path its maker names (often /v1)',
  limited: 'wait, or raise the limit where the key comes from',
  busy: 'wait, or reduce the load of the model server',
  broken: 'svc config set assistant.base_url URL: it does not speak the protocol of OpenAI or Anthropic',
}

/** Checks that the configured models exist and have the abilities of their roles. Sends no prompt. */
export function makeDiagnosis({ languageModels, models, toolsFor }: Deps) {
  async function omittedTools(choice: Choice): Promise<{ worker: string; context: number; names: string[] }> {
    const worker = choice.agent ?? choice.chat
    const { context } = await models.describe(choice, worker)
    const functions = (await toolsFor({})).map(functionOf)
    const offered = fittingFunctions(functions, context)
    const names = functions.filter((one) => !offered.includes(one)).map(({ name }) => name)
    return { worker, context, names }
  }

  async function problemOf(choice: Choice, role: ModelRole, names: readonly string[]): Promise<string | undefined> {
    const id = choice[role]
    if (id === undefined) return undefined
    // Ollama lists `name:latest` for `name`.
    if (!names.includes(id) && !names.includes(`${id}:latest`)) return `there is no model ${id}`
    const { tools, vision } = await models.describe(choice, id)
    if (role === 'agent' && tools === false) return `${id} calls no functions, so it works with tools in the text only`
    return role === 'vision' && !vision ? `${id} does not look at pictures` : undefined
  }

  return async function diagnose(): Promise<Diagnosis> {
    const missing = await models.missing()
    if (missing !== undefined) return { isWell: true, found: missing.replace(/^No/, 'no').replace(/\.$/, '') }
    try {
      const choice = await models.choice()
      const { host } = new URL(choice.server.url)
      const names = await languageModels.names(choice.server)
      for (const role of ROLES) {
        const found = await problemOf(choice, role, names)
        if (found !== undefined)
          return {
            isWell: false,
            found: `${host} answers, but ${found}`,
            remedy: `svc config set assistant.${role}_model MODEL, one of: ${names.slice(0, 10).join(', ') || 'none there'}`,
          }
      }
      const { tools, vision, context } = await models.describe(choice, choice.chat)
      const { worker, context: room, names: missing } = await omittedTools(choice)
      if (missing.length > 0)
        return {
          isWell: false,
          found: `${worker} at ${host} reads ${room} tokens, too few for the tools ${missing.join(', ')}`,
          remedy: `choose a model that reads more, or say that this one does: svc config set assistant.models '[{"id": "${worker}", "context": 32768}]'`,
        }
      const calling = tools === undefined ? 'may call functions' : tools ? 'calls functions' : 'uses tools in the text'
      const abilities = [calling, ...(vision ? ['looks at pictures'] : [])]
      return { isWell: true, found: `${choice.chat} at ${host} ${abilities.join(', ')}, reads ${context} tokens` }
    } catch (error) {
      if (isFault(error)) return { isWell: false, found: error.message, remedy: REMEDIES.refused }
      if (!(error instanceof ModelError)) throw error
      return { isWell: false, found: error.message, remedy: REMEDIES[error.kind] }
    }
  }
}
