import type { Clock } from '../../base/clock.ts'
import type { LanguageModels, ModelMessage, Picture } from '../../base/language-model.ts'
import { fault } from '../../contract/errors.ts'
import type { Settings } from '../instance/instance.ts'
import type { AssistantModels, Choice } from './models/models.ts'
import { alone, asData, LOOKING, speaking, working } from './prompts.ts'
import type { Attachments } from './attachments.ts'
import type { Run } from './run.ts'
import { readable } from './text.ts'
import type { Account } from './tools/tool.ts'

interface Parts {
  clock: Clock
  settings: Settings
  languageModels: LanguageModels
  models: AssistantModels
}

/** What a run begins with. */
interface Beginning {
  account: Account
  choice: Choice
  before: ModelMessage[]
  asked: ModelMessage
  tainted: boolean
}

/** How answers begin. */
export function makeBeginning({ clock, settings, languageModels, models }: Parts) {
  /** What a model says of a picture: text that nobody vouches for. */
  async function look(choice: Choice, picture: Picture, message: string, signal: AbortSignal): Promise<string> {
    const { text } = await languageModels.ask({
      server: choice.server,
      model: choice.vision!,
      messages: [{ role: 'user', text: `${LOOKING}\n${message}`, image: picture }],
      functions: [],
      mayCall: false,
      signal,
      onText: () => undefined,
    })
    return readable(text)
  }

  return {
    /** A message as the models get it, with all it brings along. Fault `assistant_unavailable` for a picture that none can look at. */
    async compose(
      choice: Choice,
      message: string,
      { picture, context }: Pick<Attachments, 'picture' | 'context'>,
      signal: AbortSignal,
    ): Promise<ModelMessage> {
      const pieces = context === undefined ? [] : [asData('context of the desktop', context)]
      const isDescribed = picture !== undefined && choice.vision !== undefined
      if (isDescribed) pieces.push(asData('description of the picture', await look(choice, picture, message, signal)))
      else if (picture && !(await models.describe(choice, choice.chat)).vision) {
        const text = 'No model here looks at pictures: svc config set assistant.vision_model MODEL.'
        throw fault('assistant_unavailable', { text })
      }
      const text = [...pieces, message].join('\n\n')
      return { role: 'user', text, ...(picture && !isDescribed && { image: picture }) }
    },

    /** A run at its beginning: the chat model works itself, unless there is an agent model to work for it. */
    async begin({ account, choice, before, asked, tainted }: Beginning): Promise<Run> {
      const situation = { name: (await settings.values())['assistant.name'], account, now: clock.now() }
      const { chat, agent } = choice
      const thread = (model: string, system: string) => ({
        model,
        messages: [{ role: 'system' as const, text: system }, ...before, asked],
        question: before.length + 1,
      })
      const isDivided = agent !== undefined && agent !== chat
      return {
        ...(isDivided && { speaker: thread(chat, speaking(situation)) }),
        worker: isDivided
          ? { model: agent, messages: [{ role: 'system', text: working(situation) }], question: 1 }
          : thread(chat, alone(situation)),
        due: [],
        rounds: 0,
        calls: 0,
        tainted,
        said: '',
        actions: [],
        tokens: 0,
      }
    },
  }
}

export type RunBeginning = ReturnType<typeof makeBeginning>
