import type { Clock } from '../../base/clock.ts'
import type { LanguageModels, ModelMessage, Picture } from '../../base/language-model.ts'
import { fault } from '../../contract/errors.ts'
import type { Settings } from '../instance/instance.ts'
import type { AssistantModels, Choice } from './models/models.ts'
import { asData, DESCRIBE_PICTURE, forSpeaker, forWorker, standalone } from './prompts.ts'
import type { Attachments } from './attachments.ts'
import { newRun, type Run } from './run.ts'
import { readable } from './model-text.ts'
import type { Account } from './tools/tool.ts'

interface Deps {
  clock: Clock
  settings: Settings
  languageModels: LanguageModels
  models: AssistantModels
}

interface RunInput {
  account: Account
  choice: Choice
  history: ModelMessage[]
  /** The question. */
  asked: ModelMessage
  tainted: boolean
}

/** Prepares runs of conversations. */
export function makeNewRuns({ clock, settings, languageModels, models }: Deps) {
  /** A model's description of a picture: untrusted text. */
  async function describe(choice: Choice, picture: Picture, message: string, signal: AbortSignal): Promise<string> {
    const { text } = await languageModels.ask({
      server: choice.server,
      model: choice.vision!,
      messages: [{ role: 'user', text: `${DESCRIBE_PICTURE}\n${message}`, image: picture }],
      functions: [],
      mayCall: false,
      signal,
      onText: () => undefined,
    })
    return readable(text)
  }

  return {
    /** The user message for the models, with its attachments. Fault `assistant_unavailable` for a picture without a vision model. */
    async compose(
      choice: Choice,
      message: string,
      { picture, context }: Pick<Attachments, 'picture' | 'context'>,
      signal: AbortSignal,
    ): Promise<ModelMessage> {
      const sections = context === undefined ? [] : [asData('context of the desktop', context)]
      const isDescribed = picture !== undefined && choice.vision !== undefined
      if (isDescribed)
        sections.push(asData('description of the picture', await describe(choice, picture, message, signal)))
      else if (picture && !(await models.describe(choice, choice.chat)).vision) {
        const text = 'No model here looks at pictures: svc config set assistant.vision_model MODEL.'
        throw fault('assistant_unavailable', { text })
      }
      const text = [...sections, message].join('\n\n')
      return { role: 'user', text, ...(picture && !isDescribed && { image: picture }) }
    },

    /** A run that has not begun: the chat model is the worker, unless there is an agent model. */
    async make({ account, choice, history, asked, tainted }: RunInput): Promise<Run> {
      const situation = { name: (await settings.values())['assistant.name'], account, now: clock.now() }
      const { chat, agent } = choice
      const thread = (model: string, system: string) => ({
        model,
        messages: [{ role: 'system' as const, text: system }, ...history, asked],
        question: history.length + 1,
      })
      if (agent === undefined || agent === chat) return newRun(thread(chat, standalone(situation)), tainted)
      const worker: Run['worker'] = {
        model: agent,
        messages: [{ role: 'system', text: forWorker(situation) }],
        question: 1,
      }
      return { ...newRun(worker, tainted), speaker: thread(chat, forSpeaker(situation)) }
    },
  }
}

export type NewRuns = ReturnType<typeof makeNewRuns>
